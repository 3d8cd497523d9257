import { setImmediate as afterPolling } from 'node:timers/promises';
import { RpcError } from '../../../jsonrpc/index.ts';
import {
  type Address,
  type BlockRange,
  BlockReplacedError,
  type DecodeFrame,
  edgeOf,
  type FramesPage,
  type FramesQuery,
  type Hash,
  type HistoryPosition,
  type HistoryTransaction,
  MAX_HISTORY_LIMIT,
  type MaybePromise,
  type NextTurn,
  type Order,
  TRACE_KINDS,
  type TraceReader,
  transactionOf,
} from '../../../traces/index.ts';

/** Maximum number of transactions of a page. More than the page size are possible only in the page's last block. */
export const MAX_PAGE_TRANSACTIONS = 500;

/**
 * Maximum number of reads of the index for one call. Each is bounded, and awaits `nextTurn` first. A page needs
 * more than one only if its transactions have many frames of the address, or if a filter skips many frames. The rest
 * of a transaction with more than two pages of frames is skipped.
 */
export const MAX_READS_PER_CALL = 100;

const ALL_FRAMES = { kinds: TRACE_KINDS.filter((kind) => kind !== 'reward') };

export interface TransactionsPage {
  /** In search order. The last block is complete. */
  readonly transactions: readonly HistoryTransaction[];
  /** True if no transaction of the range follows the page, and the index contains all blocks that follow. */
  readonly isEnd: boolean;
}

interface TransactionsQuery {
  readonly address: Address;
  readonly range: BlockRange;
  readonly order: Order;
  readonly pageSize: number;
}

type Cursor = HistoryPosition | undefined;

interface PagedIndex {
  readonly store: Pick<TraceReader, 'frames'>;
  readonly nextTurn?: NextTurn | undefined;
  /** Number of reads of the index that the call may still make. Default: `MAX_READS_PER_CALL`. */
  readonly budget?: { reads: number };
}

interface SearchedIndex extends PagedIndex {
  readonly store: Pick<TraceReader, 'frames' | 'block'>;
}

/**
 * Finds at least `pageSize` transactions in which the address is the sender or the recipient of a frame. Throws
 * RpcError if a searched block is missing or unavailable, and BlockReplacedError.
 */
export async function findTransactions(
  { store, nextTurn = afterPolling }: SearchedIndex,
  { address, range, order, pageSize }: TransactionsQuery,
): Promise<TransactionsPage> {
  const index = { store, nextTurn, budget: { reads: MAX_READS_PER_CALL } };
  const found: HistoryTransaction[] = [];
  const query = { ...range, address, direction: 'either', order, filter: ALL_FRAMES } as const;
  /** Number of transactions that the pages before the current one had. */
  let known = 0;
  const nextOf = ({ frames, next }: FramesPage<HistoryTransaction>): MaybePromise<Cursor> => {
    const last = frames.at(-1);
    const isKnown = found.length === known;
    known = found.length;
    if (!isKnown || next === undefined || next.blockNumber !== last?.blockNumber) return next;
    return lastOfTransaction(index, last, order);
  };
  // The first frame after the page shows that its last block is complete.
  const pages = framePages({ ...index, decode: transactionOf, nextOf }, query, pageSize + 1);
  for await (const page of pages) {
    let isFollowed = false;
    for (const frame of page.frames) {
      const last = found.at(-1);
      if (frame.transactionHash === last?.transactionHash) continue;
      isFollowed = found.length >= pageSize && frame.blockNumber !== last?.blockNumber;
      if (isFollowed) break;
      if (found.length === MAX_PAGE_TRANSACTIONS) throw tooManyTransactions(frame.blockNumber);
      found.push(frame);
    }
    const isFull = found.length >= pageSize;
    const lastBlock = found.at(-1)?.blockNumber ?? 0;
    checkSearched(page, order, isFull ? lastBlock : undefined);
    if (isFull && (isFollowed || page.missing.length > 0)) return checked(store, found, false);
  }
  return checked(store, found, true);
}

/**
 * Returns the position of the last frame of a frame's transaction, in search order. The first root frame at or after
 * the frame belongs to the next transaction in ascending order, and to the same transaction in descending order.
 */
async function lastOfTransaction(
  index: PagedIndex & { readonly nextTurn: NextTurn },
  { blockNumber, blockHash, traceIndex }: HistoryTransaction,
  order: Order,
): Promise<Cursor> {
  const cursor = { blockNumber, blockHash, traceIndex: order === 'asc' ? traceIndex : traceIndex + 1 };
  const block = { fromBlock: blockNumber, toBlock: blockNumber, cursor };
  const query = { ...block, direction: 'either', order, filter: { internal: false } } as const;
  await index.nextTurn();
  for await (const { frames } of framePages({ ...index, decode: transactionOf }, query, 1))
    if (frames[0] !== undefined)
      return { ...cursor, traceIndex: frames[0].traceIndex - (order === 'asc' ? 1 : 0) };
  return { ...cursor, ...edgeOf(blockNumber, order) };
}

interface Pages<T> extends PagedIndex {
  readonly decode: DecodeFrame<T>;
  /** Returns the cursor of the page after a page. Default: `next` of the page. */
  readonly nextOf?: (page: FramesPage<T>) => MaybePromise<Cursor>;
}

/**
 * Yields the pages of frames of a query until the last one. The first page has `limit` frames, later ones more.
 * Throws RpcError if there are too many pages.
 */
export async function* framePages<T>(
  {
    store,
    nextTurn = afterPolling,
    budget = { reads: MAX_READS_PER_CALL },
    decode,
    nextOf = ({ next }) => next,
  }: Pages<T>,
  query: Omit<FramesQuery, 'limit' | 'skip'>,
  limit: number,
): AsyncGenerator<FramesPage<T>> {
  let { cursor } = query;
  for (let size = limit; budget.reads > 0; size = Math.min(MAX_HISTORY_LIMIT, 2 * size)) {
    budget.reads--;
    const page = await store.frames({ ...query, limit: size, skip: 0, cursor }, decode);
    yield page;
    cursor = await nextOf(page);
    if (cursor === undefined) return;
    await nextTurn();
  }
  throw tooManyFrames();
}

/**
 * Throws RpcError if a page of frames covers missing or unavailable blocks, up to and including `upTo` in the given
 * order. Default: all blocks of the page.
 */
export function checkSearched(
  { missing }: Pick<FramesPage<unknown>, 'missing'>,
  order: Order,
  upTo?: number,
): void {
  const isSearched = ({ fromBlock, toBlock }: BlockRange): boolean =>
    upTo === undefined || (order === 'asc' ? fromBlock < upTo : toBlock > upTo);
  const gap = order === 'asc' ? missing.find(isSearched) : missing.findLast(isSearched);
  if (gap !== undefined) throw incomplete(order === 'asc' ? gap.fromBlock : gap.toBlock);
}

export const tooManyFrames = (): RpcError =>
  new RpcError('limitExceeded', 'too many frames of this address would have to be searched');

/** Returns the error for a search over a block that the index lacks. */
export const incomplete = (blockNumber: number): RpcError =>
  new RpcError(
    'resourceNotFound',
    `block ${blockNumber} is in the searched range, but the index does not have its traces`,
    { blockNumber },
  );

/** Throws BlockReplacedError if a reorg replaced the highest block of the page while other pages were read. */
async function checked(
  store: Pick<TraceReader, 'block'>,
  transactions: readonly HistoryTransaction[],
  isEnd: boolean,
): Promise<TransactionsPage> {
  const [first, last] = [transactions[0], transactions.at(-1)];
  const highest =
    first !== undefined && last !== undefined && first.blockNumber < last.blockNumber ? last : first;
  if (highest !== undefined) await checkSameBlock(store, highest);
  return { transactions, isEnd };
}

/** Throws BlockReplacedError if the index no longer contains the block of a transaction. */
export async function checkSameBlock(
  store: Pick<TraceReader, 'block'>,
  { blockNumber, blockHash }: { readonly blockNumber: number; readonly blockHash: Hash },
): Promise<void> {
  const block = await store.block(blockNumber);
  if (block?.hash !== blockHash) throw new BlockReplacedError(blockNumber);
}

const tooManyTransactions = (blockNumber: number): RpcError =>
  new RpcError(
    'limitExceeded',
    `more than ${MAX_PAGE_TRANSACTIONS} transactions of the address up to and including block ${blockNumber}: ` +
      'a page contains all transactions of its last block',
    { limit: MAX_PAGE_TRANSACTIONS },
  );
