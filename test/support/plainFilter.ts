import type { Trace, TraceFilter } from '../../src/ethereum/traces/index.ts';

/**
 * Reference implementation of trace_filter without an index: checks every trace of the range. It shares no code with
 * the index, so that the results can be compared.
 */
export const referenceFilter = (traces: readonly Trace[], filter: TraceFilter): Trace[] =>
  matchesBehind(traces, filter).slice(0, filter.count);

/** Returns the expected response to trace_filter without its id: the matches, or the error for too many. */
export const plainAnswer = (traces: readonly Trace[], filter: TraceFilter): PlainAnswer =>
  hasTooMany(traces, filter)
    ? { error: { code: -32005, message: TOO_MANY, data: { limit: filter.count } } }
    : { result: referenceFilter(traces, filter) };

type PlainAnswer = { readonly result: Trace[] } | { readonly error: object };

const TOO_MANY = 'more than 200 traces match: page with `count` and `after`';

/** Returns whether a filter without `count` matches more traces than the limit. */
export const hasTooMany = (traces: readonly Trace[], filter: TraceFilter): boolean =>
  filter.wantsAll === true && matchesBehind(traces, filter).length > filter.count;

/** Returns all matches after the first `after`. */
function matchesBehind(traces: readonly Trace[], filter: TraceFilter): Trace[] {
  const { fromBlock, toBlock, mode, after } = filter;
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
    .slice(after);
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
