import { RpcError } from '../../../jsonrpc/index.ts';
import { ReceiveReservation } from '../../../nodes/index.ts';
import type { Address } from '../../../traces/index.ts';
import { memoryLimitError } from '../../http/memoryLimitError.ts';
import type { Handler, NodeCall } from '../../method.ts';
import { chainRange, fetchNewest } from '../explorer/blockRange.ts';
import { onOneFork } from '../history/onOneFork.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { checkSameBlock, type FoundTransaction, findTransactions } from './findTransactions.ts';
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
  const bounds =
    side === 'after'
      ? { startBlock: blockNumber + 1, endBlock: undefined }
      : { startBlock: 1, endBlock: blockNumber === 0 ? undefined : blockNumber - 1 };
  const range = await chainRange(services, bounds);
  const isEmpty = range.fromBlock > range.toBlock;
  if (!isEmpty) await fetchNewest(services, range, context);
  const order = side === 'after' ? 'asc' : 'desc';
  const { transactions, isEnd } = isEmpty
    ? { transactions: [], isEnd: true }
    : await findTransactions(services.store, { address, range, order, pageSize });
  const newestFirst = order === 'asc' ? transactions.toReversed() : transactions;
  const [isFirst, isLast] = side === 'after' ? [isEnd, blockNumber === 0] : [blockNumber === 0, isEnd];
  return writePage(parts, newestFirst, `"firstPage":${isFirst},"lastPage":${isLast}`);
}

/** Reads transactions and receipts from the cache or from nodes, and returns them with `flags` as a result. */
async function writePage(
  parts: Parts,
  transactions: readonly FoundTransaction[],
  flags: string,
): Promise<Buffer> {
  const { services, context } = parts;
  const [txs, receipts]: [Buffer[], Buffer[]] = [[], []];
  const memory = new ReceiveReservation(context.room);
  try {
    let bytes = 0;
    for (let at = 0; at < transactions.length; at += MAX_CONCURRENT) {
      const part = transactions.slice(at, at + MAX_CONCURRENT);
      const read = await Promise.all(part.map((found) => readTransaction(parts, found)));
      for (const [tx, receipt] of read) {
        bytes += tx.length + receipt.length;
        if (bytes > services.maxAnswerBytes) throw tooLarge(services.maxAnswerBytes);
        if (!memory.charge(tx.length + receipt.length)) throw memoryLimitError();
        txs.push(tx);
        receipts.push(receipt);
      }
    }
    const timed = receipts.map((receipt, i) => withTimestamp(receipt, transactions[i]?.timestamp ?? 0));
    return Buffer.concat([
      ...[Buffer.from('{"txs":['), ...joined(txs.map((tx) => [tx]))],
      ...[Buffer.from('],"receipts":['), ...joined(timed), Buffer.from(`],${flags}}`)],
    ]);
  } finally {
    memory.release();
  }
}

/**
 * Returns a transaction and its receipt. Both must be of the block that the index has: throws BlockReplacedError if the
 * index replaced it in the meantime, otherwise RpcError.
 */
async function readTransaction(
  { services, call, context }: Parts,
  found: FoundTransaction,
): Promise<[tx: Buffer, receipt: Buffer]> {
  const { transactionHash, blockHash, blockNumber } = found;
  const [tx, receipt] = await Promise.all([
    call('eth_getTransactionByHash', [transactionHash], context),
    call('eth_getTransactionReceipt', [transactionHash], context),
  ]);
  if (isOfBlock(tx, blockHash) && isOfBlock(receipt, blockHash)) return [tx, receipt];
  await checkSameBlock(services.store, found);
  throw new RpcError(
    'resourceNotFound',
    `no node returned transaction ${transactionHash} as part of block ${blockNumber}; try again`,
    { blockNumber },
  );
}

/** Returns true if a transaction or receipt names this block. The result is parsed only if the text does not show it. */
function isOfBlock(result: Buffer, blockHash: string): boolean {
  if (result.includes(`"blockHash":"${blockHash}"`)) return true;
  const { blockHash: own } = (JSON.parse(result.toString()) ?? {}) as { readonly blockHash?: unknown };
  return String(own).toLowerCase() === blockHash;
}

const COMMA = Buffer.from(',');

const joined = (items: readonly Buffer[][]): Buffer[] =>
  items.flatMap((item, i) => (i === 0 ? item : [COMMA, ...item]));

/** Returns the parts of a receipt with the timestamp of its block added, as Otterscan expects it. */
const withTimestamp = (receipt: Buffer, timestamp: number): Buffer[] => [
  receipt.subarray(0, receipt.lastIndexOf('}')),
  Buffer.from(`,"timestamp":${timestamp}}`),
];

const tooLarge = (limit: number): RpcError =>
  new RpcError(
    'limitExceeded',
    `the result exceeds ${limit} bytes: use a smaller page size (the limit is gateway.maxAnswerBytes)`,
    { limit },
  );
