import {
  type BlockRange,
  BlockReplacedError,
  type DecodeFrame,
  type FramesPage,
  type FramesQuery,
  type HistoryPage,
  type HistoryPosition,
  type HistoryQuery,
  type HistorySummary,
  immediate,
  type JsonWriter,
  type Order,
  type SummaryQuery,
  type TraceReader,
} from '../../../traces/index.ts';
import { edgeOf, type KnownBlock } from '../history/history.ts';
import type { SharedReader } from '../sharedReader.ts';
import type { RunStart } from './localRun.ts';

export interface BothStores {
  readonly local: TraceReader;
  readonly shared: SharedReader;
  /** First block that is read from the local index; undefined if that index is empty. */
  readonly start: RunStart | undefined;
}

interface Walk {
  readonly range: BlockRange;
  readonly order: Order;
  readonly cursor?: HistoryPosition | undefined;
}

/** The part of a history that one page reads. */
interface PagePart {
  readonly isLocal: boolean;
  readonly range: BlockRange;
  readonly cursor: HistoryPosition | undefined;
  /** Last block of a shared part, if the local index knows its hash. */
  readonly tip: KnownBlock | undefined;
  /** Cursor of the next page if this part is finished; undefined if the other store has no part. */
  readonly next: HistoryPosition | undefined;
}

/** Chooses the store from which a page is read. Throws BlockReplacedError if the cursor is at another block. */
function partOf({ range, order, cursor }: Walk, start: RunStart | undefined): PagePart {
  if (start === undefined) return { isLocal: false, range, cursor, tip: undefined, next: undefined };
  const { number, hash, parentHash } = start;
  const shared = { fromBlock: range.fromBlock, toBlock: Math.min(range.toBlock, number - 1) };
  const local = { fromBlock: Math.max(range.fromBlock, number), toBlock: range.toBlock };
  const isAtEdge = (blockNumber: number): boolean =>
    cursor?.blockNumber === blockNumber && cursor.traceIndex === edgeOf(blockNumber, order).traceIndex;
  const isAscending = order === 'asc';
  const border = isAscending ? number - 1 : number;
  const isPastBorder = isAtEdge(border);
  const borderHash = isAscending ? parentHash : hash;
  if (isPastBorder && cursor?.blockHash !== undefined && cursor.blockHash !== borderHash)
    throw new BlockReplacedError(border);
  const isInLocal = cursor === undefined ? !isAscending : cursor.blockNumber >= number;
  const isLocal = isPastBorder ? isAscending : isInLocal;
  const isThere = (part: BlockRange): boolean => part.fromBlock <= part.toBlock;
  const usesLocal = isThere(local) && (isLocal || !isThere(shared));
  const other = usesLocal ? shared : local;
  const goesOn = isThere(other) && isAscending !== usesLocal;
  return {
    isLocal: usesLocal,
    range: usesLocal ? local : shared,
    cursor: isPastBorder ? undefined : cursor,
    tip: range.toBlock >= number - 1 ? { number: number - 1, hash: parentHash } : undefined,
    next: goesOn ? { ...edgeOf(border, order), blockHash: borderHash } : undefined,
  };
}

/** Reads a page of a history from one of the stores. At their border the page ends early, with a cursor. */
export async function historyPage(
  { local, shared, start }: BothStores,
  { query, range }: { readonly query: HistoryQuery; readonly range: BlockRange },
  output: { readonly maxBytes: number; readonly json: JsonWriter },
): Promise<HistoryPage> {
  const part = partOf({ range, order: query.order, cursor: query.cursor }, start);
  const { cursor: _, ...rest } = query;
  const asked = { ...rest, ...part.range, ...(part.cursor && { cursor: part.cursor }) };
  const page = part.isLocal
    ? await local.addressTraces(asked, output.maxBytes, output.json)
    : await shared.addressTraces({ query: asked, range: part.range, tip: part.tip }, output);
  return { ...page, range, next: page.next ?? part.next };
}

export async function framesPage<T>(
  { local, shared, start }: BothStores,
  query: FramesQuery,
  decode: DecodeFrame<T>,
): Promise<FramesPage<T>> {
  const { fromBlock, toBlock, order, cursor } = query;
  const part = partOf({ range: { fromBlock, toBlock }, order, cursor }, start);
  const { cursor: _, ...rest } = query;
  const asked = { ...rest, ...part.range, ...(part.cursor && { cursor: part.cursor }) };
  const page = await (part.isLocal
    ? local.frames(asked, decode)
    : shared.frames({ query: asked, tip: part.tip, decode }));
  return { ...page, next: page.next ?? part.next };
}

/** Adds up the summaries of both stores. A sum of the local part that is not complete stands alone. */
export async function summaryOfBoth(
  { local, shared, start }: BothStores & { readonly start: RunStart },
  { query, range }: { readonly query: SummaryQuery; readonly range: BlockRange },
): Promise<HistorySummary> {
  const [below, above] = [
    { fromBlock: range.fromBlock, toBlock: start.number - 1 },
    { fromBlock: start.number, toBlock: range.toBlock },
  ];
  const tip = { number: start.number - 1, hash: start.parentHash };
  const older = await shared.addressSummary({ query: { ...query, ...below }, range: below, tip });
  const newer = immediate(local.addressSummary({ ...query, ...above }));
  type Ranged<T> = {
    readonly by: Readonly<Record<'from' | 'to', T>>;
    readonly range: BlockRange | undefined;
  };
  const join = <T>(a: Ranged<T>, b: Ranged<T>, add: (a: T, b: T) => T): Ranged<T> =>
    b.range?.fromBlock !== above.fromBlock || a.range === undefined
      ? b
      : {
          by: { from: add(a.by.from, b.by.from), to: add(a.by.to, b.by.to) },
          range: { fromBlock: a.range.fromBlock, toBlock: b.range.toBlock },
        };
  return {
    range,
    firstBlock: older.firstBlock ?? newer.firstBlock,
    lastBlock: newer.lastBlock ?? older.lastBlock,
    counts: join(older.counts, newer.counts, (a, b) => a.map((count, i) => count + (b[i] ?? 0))),
    value: join(older.value, newer.value, (a, b) => a + b),
    missing: [...older.missing, ...newer.missing],
  };
}
