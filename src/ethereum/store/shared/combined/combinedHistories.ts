import {
  type BlockRange,
  BlockReplacedError,
  edgeOf,
  type HistoryPage,
  type HistoryQuery,
  type HistorySummary,
  immediate,
  isEmptyRange,
  type MaybePromise,
  type SummaryQuery,
  type TraceReader,
} from '../../../traces/index.ts';
import type { Asked } from '../history/history.ts';
import type { SharedReader } from '../sharedReader.ts';
import { type RunStart, tipBelow } from './localRun.ts';

type PageQuery = BlockRange & Pick<HistoryQuery, 'order' | 'cursor'>;

/**
 * Reads a page from one of the stores. At their border the page ends early, with a cursor. Throws BlockReplacedError if
 * the cursor is at a block of another chain.
 */
export async function pageOf<Q extends PageQuery, P extends Pick<HistoryPage, 'next'>>(
  query: Q,
  start: RunStart | undefined,
  read: {
    readonly local: (query: Q) => MaybePromise<P>;
    readonly shared: (asked: Asked<Q>) => Promise<P>;
  },
): Promise<P> {
  if (start === undefined) return read.shared({ query });
  const { fromBlock, toBlock, order, cursor } = query;
  const { number, hash, parentHash } = start;
  const isAscending = order === 'asc';
  const border = edgeOf(isAscending ? number - 1 : number, order);
  const borderHash = isAscending ? parentHash : hash;
  const isPastBorder = cursor?.blockNumber === border.blockNumber && cursor.traceIndex === border.traceIndex;
  if (isPastBorder && cursor.blockHash !== undefined && cursor.blockHash !== borderHash)
    throw new BlockReplacedError(border.blockNumber);
  const shared = { fromBlock, toBlock: Math.min(toBlock, number - 1) };
  const local = { fromBlock: Math.max(fromBlock, number), toBlock };
  const isInLocal = cursor === undefined ? !isAscending : cursor.blockNumber >= number;
  const isLocal = isPastBorder ? isAscending : isInLocal;
  const usesLocal = !isEmptyRange(local) && (isLocal || isEmptyRange(shared));
  const asked = { ...query, ...(usesLocal ? local : shared), cursor: isPastBorder ? undefined : cursor };
  const tip = toBlock >= number - 1 ? tipBelow(start) : undefined;
  const page = await (usesLocal ? read.local(asked) : read.shared({ query: asked, tip }));
  const goesOn = !isEmptyRange(usesLocal ? shared : local) && isAscending !== usesLocal;
  return { ...page, next: page.next ?? (goesOn ? { ...border, blockHash: borderHash } : undefined) };
}

/** Adds up the summaries of both stores. A sum of the local part that is not complete stands alone. */
export async function summaryOfBoth(
  { local, shared }: { readonly local: TraceReader; readonly shared: SharedReader },
  query: SummaryQuery & BlockRange,
  start: RunStart,
): Promise<HistorySummary> {
  const { number } = start;
  const below = { ...query, toBlock: number - 1 };
  const older = await shared.addressSummary({ query: below, tip: tipBelow(start) });
  const newer = immediate(local.addressSummary({ ...query, fromBlock: number }));
  type Ranged<T> = {
    readonly by: Readonly<Record<'from' | 'to', T>>;
    readonly range: BlockRange | undefined;
  };
  const join = <T>(a: Ranged<T>, b: Ranged<T>, add: (a: T, b: T) => T): Ranged<T> =>
    b.range?.fromBlock !== number || a.range === undefined
      ? b
      : {
          by: { from: add(a.by.from, b.by.from), to: add(a.by.to, b.by.to) },
          range: { fromBlock: a.range.fromBlock, toBlock: b.range.toBlock },
        };
  return {
    range: { fromBlock: query.fromBlock, toBlock: query.toBlock },
    firstBlock: older.firstBlock ?? newer.firstBlock,
    lastBlock: newer.lastBlock ?? older.lastBlock,
    counts: join(older.counts, newer.counts, (a, b) => a.map((count, i) => count + (b[i] ?? 0))),
    value: join(older.value, newer.value, (a, b) => a + b),
    missing: [...older.missing, ...newer.missing],
  };
}
