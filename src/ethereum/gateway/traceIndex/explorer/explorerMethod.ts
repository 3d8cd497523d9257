import { setImmediate as afterPolling } from 'node:timers/promises';
import { type Result, RPC_ERRORS, RpcError } from '../../../jsonrpc/index.ts';
import {
  type BlockRange,
  type FramesQuery,
  type HistoryFrame,
  type HistoryPosition,
  historyFrameOf,
  INTERNAL_TRANSACTIONS,
  MAX_HISTORY_LIMIT,
  type NextTurn,
  type TraceReader,
} from '../../../traces/index.ts';
import type { Method } from '../../method.ts';
import { onOneFork } from '../history/onOneFork.ts';
import { storeFor } from '../traceFilter/fromNodes.ts';
import { findTransaction } from '../traces/fromTransaction.ts';
import type { IndexServices, LimitedCaller } from '../traces/indexServices.ts';
import { chainRange, fetchNewest } from './blockRange.ts';
import { type ExplorerQuery, MAX_ROWS, type Rows, readExplorerQuery } from './params.ts';
import { answerOf } from './rows.ts';

/** An API key may use the explorer API if it may call this method. */
export const EXPLORER_PERMISSION = 'floodgate_addressTraces';

/** Name of the explorer method in metrics. The method cannot be called over JSON-RPC. */
export const EXPLORER_METHOD = 'txlistinternal';

/** Maximum number of pages that the scan limit ends early. A query with more such pages is rejected. */
const MAX_SHORT_PAGES = 10;

/** Returns the method for internal transactions in Etherscan format. Its parameter is the URL's query string. */
export function explorerMethod(services: IndexServices, chainId: () => string | undefined): Method {
  return {
    name: EXPLORER_METHOD,
    permissionOf: EXPLORER_PERMISSION,
    async handle([query], caller): Promise<Result> {
      const asked = readExplorerQuery(query as URLSearchParams, chainId()); // the gateway passes the query string
      const { transactions, missing } = await onOneFork(() =>
        asked.of === 'transaction'
          ? readTransaction(services, asked, caller)
          : readRange(services, asked, caller),
      );
      const text = Buffer.from(JSON.stringify(answerOf(transactions, missing)));
      if (text.length <= services.maxAnswerBytes) return text;
      throw new RpcError(
        'limitExceeded',
        `the result exceeds ${services.maxAnswerBytes} bytes: use a smaller offset`,
      );
    },
  };
}

type TransactionQuery = Extract<ExplorerQuery, { of: 'transaction' }>;

interface Found {
  readonly transactions: readonly HistoryFrame[];
  readonly missing: readonly BlockRange[];
}

async function readRange(
  services: IndexServices,
  { address, direction, startBlock, endBlock, rows, order }: Extract<ExplorerQuery, { of: 'range' }>,
  caller: LimitedCaller,
): Promise<Found> {
  const range = await chainRange(services, { startBlock, endBlock });
  if (range.fromBlock > range.toBlock) return { transactions: [], missing: [] };
  await fetchNewest(services, range, caller);
  const whose = address === undefined ? {} : { address };
  const query = { ...range, ...whose, direction, order };
  return readPages(storeFor(services, caller), query, { rows, nextTurn: caller.nextTurn });
}

/**
 * Returns the frames (calls, creations and destructions) of a transaction without its root frame. If no node can
 * return the block of the transaction, that block is reported as missing.
 */
async function readTransaction(
  services: IndexServices,
  query: TransactionQuery,
  caller: LimitedCaller,
): Promise<Found> {
  try {
    const place = await findTransaction(services, { hash: query.hash, caller }, (store, within) =>
      store.transactionPosition(query.hash, within),
    );
    if (place === null) return { transactions: [], missing: [] };
    return await readFrames(storeFor(services, caller), place, { ...query, nextTurn: caller.nextTurn });
  } catch (error) {
    const blockNumber = missingBlockOf(error);
    if (blockNumber === undefined) throw error;
    return { transactions: [], missing: [{ fromBlock: blockNumber, toBlock: blockNumber }] };
  }
}

/** Returns the number of the missing block if the error says that no node can return a block. */
function missingBlockOf(error: unknown): number | undefined {
  if (!(error instanceof RpcError) || error.code !== RPC_ERRORS.resourceNotFound.code) return undefined;
  const { blockNumber } = (error.data ?? {}) as { readonly blockNumber?: unknown }; // `data` is an object or undefined
  return typeof blockNumber === 'number' ? blockNumber : undefined;
}

async function readFrames(
  store: TraceReader,
  place: HistoryPosition,
  { hash, rows, order, nextTurn }: TransactionQuery & Pick<PagesWanted, 'nextTurn'>,
): Promise<Found> {
  const { blockNumber } = place;
  const { transactions } = await readPages(
    store,
    { fromBlock: blockNumber, toBlock: blockNumber, direction: 'either', order: 'asc' },
    {
      rows: order === 'asc' ? rows : { skip: 0, count: MAX_ROWS + 1 },
      cursor: place,
      nextTurn,
      isWanted: ({ transactionHash }) => transactionHash === hash,
    },
  );
  if (order === 'asc') return { transactions, missing: [] };
  if (transactions.length > MAX_ROWS) throw tooMuch('use sort=asc');
  const { skip, count } = rows;
  return { transactions: [...transactions].reverse().slice(skip, skip + count), missing: [] };
}

interface PagesWanted {
  readonly rows: Rows;
  readonly cursor?: HistoryPosition;
  readonly nextTurn: NextTurn | undefined;
  /** Returns true if a transaction belongs to the result. Reading stops at the first one for which it returns false. */
  readonly isWanted?: (transaction: HistoryFrame) => boolean;
}

/**
 * Reads internal transactions page by page, and awaits `nextTurn` between pages. Rejects with BlockReplacedError,
 * or with RpcError if the query is too large.
 */
async function readPages(
  store: TraceReader,
  query: Omit<FramesQuery, 'filter' | 'limit' | 'skip' | 'cursor'>,
  { rows, cursor, nextTurn = afterPolling, isWanted = () => true }: PagesWanted,
): Promise<Found> {
  const transactions: HistoryFrame[] = [];
  const missing: BlockRange[] = [];
  let { skip } = rows;
  let short = 0;
  for (let place = cursor; ; await nextTurn()) {
    const limit = Math.min(MAX_HISTORY_LIMIT, skip + rows.count - transactions.length);
    const asked = {
      ...query,
      filter: INTERNAL_TRANSACTIONS,
      limit,
      skip: Math.min(skip, limit),
      ...(place && { cursor: place }),
    };
    const page = await store.frames(asked, historyFrameOf);
    skip -= Math.min(skip, page.found);
    missing.push(...page.missing);
    for (const transaction of page.frames) {
      if (!isWanted(transaction)) return { transactions, missing };
      transactions.push(transaction);
    }
    place = page.next;
    if (place === undefined || transactions.length >= rows.count) return { transactions, missing };
    if (page.found < limit && ++short > MAX_SHORT_PAGES) throw tooMuch('query fewer blocks');
  }
}

const tooMuch = (instead: string): RpcError =>
  new RpcError(
    'limitExceeded',
    `Query Timeout occured. Please select a smaller result dataset: too many traces to scan; ${instead}`,
  );
