import type { Trace, TraceFilter } from '../../src/ethereum/traces/index.ts';

/**
 * trace_filter as one would write it with no index and no hurry: look at every trace of the range. It shares no code
 * with the index, so that the two can be compared.
 */
export function plainFilter(traces: readonly Trace[], filter: TraceFilter): Trace[] {
  const { fromBlock, toBlock, fromAddresses, toAddresses, mode, after, count } = filter;
  const matches = (trace: Trace): boolean => {
    const fromMatches = fromAddresses.some((address) => address === senderOf(trace));
    const toMatches = toAddresses.some((address) => address === recipientOf(trace));
    if (fromAddresses.length === 0 && toAddresses.length === 0) return true;
    if (fromAddresses.length === 0) return toMatches;
    if (toAddresses.length === 0) return fromMatches;
    return mode === 'union' ? fromMatches || toMatches : fromMatches && toMatches;
  };
  return traces
    .filter((trace) => trace.blockNumber >= fromBlock && trace.blockNumber <= toBlock)
    .filter(matches)
    .slice(after, after + count);
}

export function senderOf(trace: Trace): string | undefined {
  if (trace.type === 'call' || trace.type === 'create') return trace.action.from;
  if (trace.type === 'suicide') return trace.action.address;
  return undefined;
}

export function recipientOf(trace: Trace): string | undefined {
  if (trace.type === 'call') return trace.action.to;
  if (trace.type === 'create')
    return trace.result && 'address' in trace.result && !trace.error ? trace.result.address : undefined;
  if (trace.type === 'suicide') return trace.action.refundAddress;
  return trace.action.author;
}
