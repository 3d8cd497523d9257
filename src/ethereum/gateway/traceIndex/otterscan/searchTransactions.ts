import { type Part, RpcError } from '../../../jsonrpc/index.ts';
import { ReceiveReservation } from '../../../nodes/index.ts';
import type { Address, HistoryTransaction, MaybePromise } from '../../../traces/index.ts';
import { memoryLimitError } from '../../http/memoryLimitError.ts';
import { joined } from '../../http/respond.ts';
import type { Handler, NodeCall } from '../../method.ts';
import { fetchNewest } from '../explorer/blockRange.ts';
import { onOneFork } from '../history/onOneFork.ts';
import { checkHead, resolveHeads } from '../traceFilter/fromIndex.ts';
import { storeFor } from '../traceFilter/fromNodes.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { checkSameBlock, findTransactions } from './findTransactions.ts';
import type { Parts } from './parts.ts';

/** Maximum number of transactions that are read from nodes at the same time for one call. */
const MAX_CONCURRENT = 8;

type Side = 'before' | 'after';

/**
 * Returns a function that creates the handler of ots_searchTransactionsBefore or of ots_searchTransactionsAfter. The
 * result lists the newest transaction first.
 */
export const searchTransactions =
  (side: Side) =>
  (services: IndexServices, call: NodeCall): Handler =>
  ([address, blockNumber, pageSize], context) => {
    const asked = {
      address: address as Address, // validated by the parameter types
      blockNumber: Number(blockNumber),
      pageSize: Number(pageSize),
    };
    return onOneFork(() => readPage({ services, call, context }, side, asked));
  };

interface Asked {
  readonly address: Address;
  /** Block at which the search starts, excluded. 0: the head or the genesis block. */
  readonly blockNumber: number;
  readonly pageSize: number;
}

async function readPage(
  parts: Parts,
  side: Side,
  { address, blockNumber, pageSize }: Asked,
): Promise<Buffer> {
  const { services, context } = parts;
  const { first, last } =
    side === 'after'
      ? { first: blockNumber + 1, last: undefined }
      : { first: 1, last: blockNumber === 0 ? undefined : blockNumber - 1 };
  const heads = await resolveHeads(services, [last ?? first]);
  // A gateway with a newer head may have returned the previous page: a shorter range would lose transactions.
  checkHead(heads, 'block', last ?? first - 1);
  const range = { fromBlock: first, toBlock: last ?? heads.latest };
  const isEmpty = range.fromBlock > range.toBlock;
  if (!isEmpty) await fetchNewest(services, range, context);
  const order = side === 'after' ? 'asc' : 'desc';
  const { transactions, isEnd } = isEmpty
    ? { transactions: [], isEnd: true }
    : await findTransactions(
        { store: storeFor(services, context), nextTurn: context.nextTurn },
        { address, range, order, pageSize },
      );
  const newestFirst = order === 'asc' ? transactions.toReversed() : transactions;
  const [isFirst, isLast] = side === 'after' ? [isEnd, blockNumber === 0] : [blockNumber === 0, isEnd];
  return writePage(parts, newestFirst, `"firstPage":${isFirst},"lastPage":${isLast}`);
}

/** Reads transactions and receipts from the cache or from nodes, and returns them with `flags` as a result. */
async function writePage(
  { services, call, context }: Parts,
  transactions: readonly HistoryTransaction[],
  flags: string,
): Promise<Buffer> {
  const parts = { services, call, context: { ...context, mayStream: false } };
  const [txs, receipts]: [Part[], Part[]] = [[], []];
  const memory = new ReceiveReservation(context.room);
  try {
    let bytes = 0;
    for (let at = 0; at < transactions.length; at += MAX_CONCURRENT) {
      const some = transactions.slice(at, at + MAX_CONCURRENT);
      const read = some.map((found) => readTransaction(parts, found));
      // Cached results are not promises.
      const known = read.some((one) => one instanceof Promise) ? await Promise.all(read) : (read as Read[]);
      let charged = 0;
      for (const [i, { tx, receipt }] of known.entries()) {
        charged += tx.length + receipt.length;
        txs.push(txs.length === 0 ? '{"txs":[' : ',', tx);
        // Otterscan expects the timestamp of the block in a receipt.
        const end = `,"timestamp":${some[i]?.timestamp ?? 0}}`;
        const isFirst = receipts.length === 0;
        receipts.push(isFirst ? '],"receipts":[' : ',', receipt.subarray(0, receipt.lastIndexOf('}')), end);
      }
      bytes += charged;
      if (bytes > services.maxAnswerBytes) throw tooLarge(services.maxAnswerBytes);
      if (!memory.charge(charged)) throw memoryLimitError();
    }
    if (txs.length === 0) return Buffer.from(`{"txs":[],"receipts":[],${flags}}`);
    return joined([...txs, ...receipts, `],${flags}}`]);
  } finally {
    memory.release();
  }
}

/** A transaction and its receipt, as nodes return them. */
interface Read {
  readonly tx: Buffer;
  readonly receipt: Buffer;
}

/**
 * Returns a transaction and its receipt. Both must be of the block that the index has: otherwise throws
 * BlockReplacedError if the index replaced it in the meantime, or RpcError.
 */
function readTransaction({ services, call, context }: Parts, found: HistoryTransaction): MaybePromise<Read> {
  const params = [found.transactionHash];
  const tx = call('eth_getTransactionByHash', params, context);
  const receipt = call('eth_getTransactionReceipt', params, context);
  if (tx instanceof Promise || receipt instanceof Promise)
    return Promise.all([tx, receipt]).then((both) =>
      checked(services, found, { tx: both[0], receipt: both[1] }),
    );
  return checked(services, found, { tx, receipt });
}

function checked({ store }: IndexServices, found: HistoryTransaction, read: Read): MaybePromise<Read> {
  const { transactionHash, blockHash, blockNumber } = found;
  if (blockOf(read.tx) === blockHash && blockOf(read.receipt) === blockHash) return read;
  return checkSameBlock(store, found).then(() => {
    throw new RpcError(
      'resourceNotFound',
      `no node returned transaction ${transactionHash} as part of block ${blockNumber}; try again`,
      { blockNumber },
    );
  });
}

/** Block hashes of transactions and receipts. A cached result is the same object in each call. */
const blockHashes = new WeakMap<Buffer, string>();

/** Returns the block hash in a transaction or receipt. */
function blockOf(result: Buffer): string {
  let known = blockHashes.get(result);
  if (known === undefined) {
    const { blockHash } = (JSON.parse(result.toString()) ?? {}) as { readonly blockHash?: unknown };
    known = String(blockHash).toLowerCase();
    blockHashes.set(result, known);
  }
  return known;
}

const tooLarge = (limit: number): RpcError =>
  new RpcError(
    'limitExceeded',
    `the result exceeds ${limit} bytes: use a smaller page size (the limit is gateway.maxAnswerBytes)`,
    { limit },
  );
