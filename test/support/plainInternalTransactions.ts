import type { Direction, HistoryFrame, Order, SuicideTrace, Trace } from '../../src/ethereum/traces/index.ts';
import { referenceHistory } from './plainHistory.ts';

interface Asked {
  readonly address?: string | undefined;
  readonly direction: Direction;
  readonly order: Order;
}

/** Reference implementation of the internal transactions of a range, computed from full traces without an index. */
export function plainInternalTransactions(
  traces: readonly Trace[],
  { address, direction, order }: Asked,
  {
    range,
    timestampOf,
  }: {
    readonly range: { readonly fromBlock: number; readonly toBlock: number };
    readonly timestampOf: (blockNumber: number) => number;
  },
): HistoryFrame[] {
  const whose = {
    addresses: address === undefined ? ('all' as const) : [address as never],
    direction,
    order,
  };
  const filter = { internal: true, callsCarryValue: true, kinds: ['call', 'create', 'suicide'] } as const;
  const failed = new Set(referenceHistory(traces, { ...whose, filter: { ...filter, failed: true } }, range));
  const indexes = indexesInBlocks(traces);
  return referenceHistory(traces, { ...whose, filter }, range).map((trace) => ({
    ...partsOf(trace),
    traceIndex: indexes.get(trace) ?? 0,
    blockNumber: trace.blockNumber,
    blockHash: trace.blockHash,
    timestamp: timestampOf(trace.blockNumber),
    transactionHash: trace.transactionHash as never, // a reward is not internal
    traceAddress: trace.traceAddress,
    hasFailed: failed.has(trace),
    error: trace.type === 'reward' ? undefined : trace.error,
  }));
}

/** Returns the index of each trace in its block. The traces of a block are adjacent. */
function indexesInBlocks(traces: readonly Trace[]): Map<Trace, number> {
  const indexes = new Map<Trace, number>();
  let [blockNumber, index] = [-1, 0];
  for (const trace of traces) {
    index = trace.blockNumber === blockNumber ? index + 1 : 0;
    ({ blockNumber } = trace);
    indexes.set(trace, index);
  }
  return indexes;
}

type Parts = Pick<HistoryFrame, 'type' | 'from' | 'to' | 'created' | 'value' | 'gas' | 'gasUsed'>;

function partsOf(trace: Trace): Parts {
  if (trace.type === 'reward') throw new Error('a reward is not an internal transaction');
  if (trace.type === 'suicide') return destruction(trace);
  const { from, value, gas } = trace.action;
  const sums = {
    value: BigInt(value),
    gas: BigInt(gas),
    gasUsed: trace.result === null ? undefined : BigInt(trace.result.gasUsed),
  };
  if (trace.type === 'call') return { type: 'call', from, to: trace.action.to, created: undefined, ...sums };
  const created = trace.result !== null && 'address' in trace.result ? trace.result.address : undefined;
  return { type: trace.action.creationMethod ?? 'create', from, to: undefined, created, ...sums };
}

const destruction = ({ action }: SuicideTrace): Parts => ({
  type: 'suicide',
  from: action.address,
  to: action.refundAddress,
  value: BigInt(action.balance),
  created: undefined,
  gas: undefined,
  gasUsed: undefined,
});
