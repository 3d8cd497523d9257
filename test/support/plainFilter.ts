import type { Trace, TraceFilter } from '../../src/ethereum/traces/index.ts';

/**
 * trace_filter as one would write it with no index and no hurry: look at every trace of the range. It shares no code
 * with the index, so that the two can be compared.
 */
export function plainFilter(traces: readonly Trace[], filter: TraceFilter): Trace[] {
  const { fromBlock, toBlock, mode, after, count } = filter;
  const [senders, recipients] = [filter.fromAddresses, filter.toAddresses].map(
    (addresses) => new Set<string | undefined>(addresses),
  ) as [Set<string | undefined>, Set<string | undefined>];
  const matches = (trace: Trace): boolean => {
    if (senders.size === 0 && recipients.size === 0) return true;
    const fromMatches = senders.has(senderOf(trace));
    const toMatches = recipients.has(recipientOf(trace));
    if (senders.size === 0) return toMatches;
    if (recipients.size === 0) return fromMatches;
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
