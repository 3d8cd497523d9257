import type { HistoryFilter, HistoryQuery, HistorySummary, Trace } from '../../src/ethereum/traces/index.ts';
import { recipientOf, senderOf } from './plainFilter.ts';

/**
 * Reference implementation of an address's history without an index: checks every trace, and the failures in its
 * transaction. It shares no code with the index, so that the results can be compared.
 */
export function referenceHistory(
  traces: readonly Trace[],
  { addresses, direction, order, filter }: Pick<HistoryQuery, 'addresses' | 'direction' | 'order' | 'filter'>,
  { fromBlock, toBlock }: { readonly fromBlock: number; readonly toBlock: number },
): Trace[] {
  const isOne = (party: string | undefined): boolean =>
    addresses === 'all' || addresses.some((address) => address === party);
  const failures = failuresOf(traces);
  const found = traces.filter((trace) => {
    if (trace.blockNumber < fromBlock || trace.blockNumber > toBlock) return false;
    const isSender = direction !== 'to' && isOne(senderOf(trace));
    const isRecipient = direction !== 'from' && isOne(recipientOf(trace));
    return (isSender || isRecipient) && passes(trace, filter, failures);
  });
  return order === 'asc' ? found : found.reverse();
}

/** Returns the summary of an address's history, counted trace by trace. */
export function plainSummary(
  traces: readonly Trace[],
  address: string,
  range: { readonly fromBlock: number; readonly toBlock: number },
): Pick<HistorySummary, 'firstBlock' | 'lastBlock'> & {
  readonly counts: HistorySummary['counts']['by'];
  readonly value: HistorySummary['value']['by'];
} {
  const failures = failuresOf(traces);
  const all = traces.filter(
    ({ blockNumber }) => blockNumber >= range.fromBlock && blockNumber <= range.toBlock,
  );
  const from = all.filter((trace) => senderOf(trace) === address);
  const to = all.filter((trace) => recipientOf(trace) === address);
  const blocks = [...from, ...to].map(({ blockNumber }) => blockNumber);
  const counts = (some: readonly Trace[]): number[] =>
    ['call', 'create', 'suicide', 'reward'].map((type) => some.filter((trace) => trace.type === type).length);
  const value = (some: readonly Trace[]): bigint =>
    some.reduce((sum, trace) => sum + movedValue(trace, failures), 0n);
  return {
    firstBlock: blocks.length === 0 ? undefined : Math.min(...blocks),
    lastBlock: blocks.length === 0 ? undefined : Math.max(...blocks),
    counts: { from: counts(from), to: counts(to) },
    value: { from: value(from), to: value(to) },
  };
}

/** The paths of failed frames, by transaction. */
type Failures = ReadonlyMap<string, readonly string[]>;

const known = new WeakMap<readonly Trace[], Failures>();

/** Returns the failures of a chain, computed once. */
function failuresOf(traces: readonly Trace[]): Failures {
  const failures = known.get(traces) ?? failuresIn(traces);
  known.set(traces, failures);
  return failures;
}

function failuresIn(traces: readonly Trace[]): Failures {
  const failures = new Map<string, string[]>();
  for (const trace of traces)
    if (trace.type !== 'reward' && trace.error !== undefined) {
      const key = `${trace.blockHash} ${trace.transactionHash}`;
      failures.set(key, [...(failures.get(key) ?? []), pathOf(trace)]);
    }
  return failures;
}

const pathOf = ({ traceAddress }: Trace): string => `/${traceAddress.map((index) => `${index}/`).join('')}`;

const hasFailed = (trace: Trace, failures: Failures): boolean =>
  (failures.get(`${trace.blockHash} ${trace.transactionHash}`) ?? []).some((path) =>
    pathOf(trace).startsWith(path),
  );

function passes(
  trace: Trace,
  { kinds, minValue, internal, failed, callsCarryValue }: HistoryFilter,
  failures: Failures,
): boolean {
  const kind = trace.type === 'call' ? trace.action.callType : trace.type;
  if (kinds !== undefined && !kinds.includes(kind)) return false;
  if (failed !== undefined && hasFailed(trace, failures) !== failed) return false;
  if (internal !== undefined && (trace.type === 'reward' || trace.traceAddress.length > 0 !== internal))
    return false;
  if (callsCarryValue && kind === 'call' && carriedValue(trace) === 0n) return false;
  return minValue === undefined || movedValue(trace, failures) >= minValue;
}

const carriedValue = (trace: Trace): bigint => ('value' in trace.action ? BigInt(trace.action.value) : 0n);

/** Returns the wei that a trace transferred. */
function movedValue(trace: Trace, failures: Failures): bigint {
  if (hasFailed(trace, failures)) return 0n;
  if (trace.type === 'call') return trace.action.callType === 'call' ? BigInt(trace.action.value) : 0n;
  return BigInt(trace.type === 'suicide' ? trace.action.balance : trace.action.value);
}
