import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Result, RpcError } from '../../jsonrpc/index.ts';
import {
  type BlockRange,
  BlockReplacedError,
  type HistoryPlace,
  type InternalTransaction,
  type InternalTransactionsQuery,
  MAX_HISTORY_LIMIT,
} from '../../traces/index.ts';
import type { Method } from '../method.ts';
import { resolveHeads } from '../traceFilter/fromIndex.ts';
import { findTransaction } from '../traces/fromTransaction.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { type ExplorerQuery, MAX_ROWS, type Rows, readExplorerQuery } from './params.ts';
import { answerOf } from './rows.ts';

/** The method in whose place it is asked for: it is served where that is, to those who may call it. */
export const EXPLORER_STANDS_FOR = 'floodgate_addressTraces';

/** What it is called in metrics; no call names it. */
export const EXPLORER_METHOD = 'txlistinternal';

/** So many pages may be short, because all that one may look at was looked at: then the question is too large. */
const MAX_SHORT_PAGES = 10;

/** A chain that replaces its blocks faster than they can be read is read again so many times. */
const MAX_READS = 4;

/** Internal transactions in the form of explorers, from the index. Its one parameter is the query of a URL. */
export function explorerMethod(services: IndexServices, chainId: () => string | undefined): Method {
  return {
    name: EXPLORER_METHOD,
    standsFor: EXPLORER_STANDS_FOR,
    async handle([query]): Promise<Result> {
      const asked = readExplorerQuery(query as URLSearchParams, chainId()); // what the path gives
      const { transactions, missing } = await readAgain(services, asked);
      const text = Buffer.from(JSON.stringify(answerOf(transactions, missing)));
      if (text.length <= services.maxAnswerBytes) return text;
      throw new RpcError(
        'limitExceeded',
        `the answer is over ${services.maxAnswerBytes} bytes: ask with a smaller offset`,
      );
    },
  };
}

interface Found {
  readonly transactions: readonly InternalTransaction[];
  readonly missing: readonly BlockRange[];
}

/** Blocks that are replaced between two pages make the whole of it of two chains: it is read again. */
async function readAgain(services: IndexServices, asked: ExplorerQuery): Promise<Found> {
  for (let left = MAX_READS; left > 0; left--)
    try {
      return await (asked.of === 'transaction'
        ? readTransaction(services, asked)
        : readRange(services, asked));
    } catch (error) {
      if (!(error instanceof BlockReplacedError)) throw error;
    }
  throw new RpcError('resourceNotFound', 'blocks of the range are being replaced; ask again');
}

async function readRange(
  services: IndexServices,
  { address, direction, startBlock, endBlock, rows, order }: Extract<ExplorerQuery, { of: 'range' }>,
): Promise<Found> {
  const { latest } = await resolveHeads(services, ['latest']);
  // The genesis block has no transactions, and need not be in the index.
  const range = { fromBlock: Math.max(1, startBlock), toBlock: Math.min(latest, endBlock ?? latest) };
  if (range.fromBlock > range.toBlock) return { transactions: [], missing: [] };
  const whose = address === undefined ? {} : { address };
  return readPages(services, { ...range, ...whose, direction, order }, { rows });
}

/** The frames behind its root, as far as they are of the same transaction. */
async function readTransaction(
  services: IndexServices,
  { hash, rows, order }: Extract<ExplorerQuery, { of: 'transaction' }>,
): Promise<Found> {
  const place = await findTransaction(services, hash, (upTo) =>
    services.store.transactionPlace(hash, { upTo }),
  );
  if (place === null) return { transactions: [], missing: [] };
  const { blockNumber } = place;
  const { transactions } = await readPages(
    services,
    { fromBlock: blockNumber, toBlock: blockNumber, direction: 'either', order: 'asc' },
    {
      rows: order === 'asc' ? rows : { skip: 0, count: MAX_ROWS + 1 },
      behind: place,
      isWanted: ({ transactionHash }) => transactionHash === hash,
    },
  );
  if (order === 'asc') return { transactions, missing: [] };
  if (transactions.length > MAX_ROWS) throw tooMuch('with sort=asc');
  const { skip, count } = rows;
  return { transactions: [...transactions].reverse().slice(skip, skip + count), missing: [] };
}

interface PagesWanted {
  readonly rows: Rows;
  readonly behind?: HistoryPlace;
  /** The first that is not ends it. */
  readonly isWanted?: (transaction: InternalTransaction) => boolean;
}

/** Page by page, others having their turn in between. Throws BlockReplacedError, and RpcError where it is too much. */
async function readPages(
  { store }: IndexServices,
  query: Omit<InternalTransactionsQuery, 'limit' | 'skip' | 'behind'>,
  { rows, behind, isWanted = () => true }: PagesWanted,
): Promise<Found> {
  const transactions: InternalTransaction[] = [];
  const missing: BlockRange[] = [];
  let { skip } = rows;
  let short = 0;
  for (let place = behind; ; await nextTurn()) {
    const limit = Math.min(MAX_HISTORY_LIMIT, skip + rows.count - transactions.length);
    const asked = { ...query, limit, skip: Math.min(skip, limit), ...(place && { behind: place }) };
    const page = await store.internalTransactions(asked);
    skip -= Math.min(skip, page.found);
    missing.push(...page.missing);
    for (const transaction of page.transactions) {
      if (!isWanted(transaction)) return { transactions, missing };
      transactions.push(transaction);
    }
    place = page.next;
    if (place === undefined || transactions.length >= rows.count) return { transactions, missing };
    if (page.found < limit && ++short > MAX_SHORT_PAGES) throw tooMuch('for fewer blocks');
  }
}

const tooMuch = (instead: string): RpcError =>
  new RpcError(
    'limitExceeded',
    `Query Timeout occured. Please select a smaller result dataset: too many traces have to be looked at; ask ${instead}`,
  );
