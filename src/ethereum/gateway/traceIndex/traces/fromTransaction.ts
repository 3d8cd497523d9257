import { NoNodeError, RpcError } from '../../../jsonrpc/index.ts';
import { NodeError, type TransactionFinder } from '../../../nodes/index.ts';
import {
  type Hash,
  type MaybePromise,
  mapMaybe,
  type TraceReader,
  type TransactionLimits,
} from '../../../traces/index.ts';
import { ensureIndexed, followChain, MAX_READS, withSizeErrors } from '../traceFilter/fromIndex.ts';
import { isUnproven, storeFor } from '../traceFilter/fromNodes.ts';
import type { Caller, IndexServices } from './indexServices.ts';

const NULL = Buffer.from('null');

/** Reads a transaction from some blocks of the index. */
type ReadTransaction<T> = (
  store: TraceReader,
  within: Pick<TransactionLimits, 'fromBlock' | 'upTo'>,
) => MaybePromise<T | null | undefined>;

interface WantedTransaction {
  readonly hash: Hash;
  /** The client for which the block of the transaction is fetched. */
  readonly caller: Caller;
}

/**
 * Returns a function that reads a transaction, or null if no block contains it. If the index lacks the transaction, or
 * has it in a block above the nodes' head (which may have moved back), the nodes are queried for its block, which is
 * then indexed. Throws RpcError if this fails or the result is too large; `instead` is advice in the message.
 */
export function fromTransaction(
  services: IndexServices,
  instead: string,
): (hash: Hash, caller: Caller, read: ReadTransaction<Buffer>) => MaybePromise<Buffer> {
  return (hash, caller, read) =>
    mapMaybe(
      withSizeErrors(() => findTransaction(services, { hash, caller }, read), instead),
      (known) => known ?? NULL,
    );
}

/** Finds a transaction, without a limit for the result's size. Returns null if the transaction is in no block. */
export const findTransaction = <T>(
  services: IndexServices,
  wanted: WantedTransaction,
  read: ReadTransaction<T>,
): MaybePromise<T | null> => {
  const store = storeFor(services, wanted.caller);
  const readNext = () => readFetched({ ...services, store }, wanted, read);
  const ifHeld = (held: T | null | undefined) => (held === undefined ? readNext() : held);
  const known = read(store, { upTo: services.indexer.lastHeads?.latest.number });
  if (!(known instanceof Promise)) return ifHeld(known);
  return known.then(ifHeld, async (error: unknown) => {
    if (!isUnproven(error)) throw error;
    // Nodes forget in which blocks old transactions are, so null does not mean that no block contains it.
    const found = await readNext();
    if (found === null) throw error;
    return found;
  });
};

async function readFetched<T>(
  services: IndexServices,
  { hash, caller }: WantedTransaction,
  read: ReadTransaction<T>,
): Promise<T | null> {
  const { store, indexer, finder } = services;
  let blockNumber: number | undefined;
  for (let left = MAX_READS - 1; left > 0; left--) {
    blockNumber = await blockOf(finder, hash);
    if (blockNumber === undefined) return null;
    await caller.nextTurn?.();
    const within = { fromBlock: blockNumber, upTo: blockNumber };
    let held = await read(store, within);
    if (held === undefined) {
      await ensureIndexed(indexer, { fromBlock: blockNumber, toBlock: blockNumber, caller });
      held = await read(store, within);
    }
    if (held !== undefined) return held;
    // The index has another block with this number, or the block was replaced while it was read.
    await followChain(services, caller);
  }
  throw new RpcError(
    'resourceNotFound',
    `the nodes have the transaction in block ${blockNumber}, but the index has another block ${blockNumber}; try again`,
    { blockNumber },
  );
}

const blockOf = (finder: TransactionFinder, hash: Hash): Promise<number | undefined> =>
  finder.transactionBlock(hash).catch((error: unknown) => {
    if (!(error instanceof NodeError)) throw error;
    throw new NoNodeError('the transaction is not in the index, and no node returned its block; try again');
  });
