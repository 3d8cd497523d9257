/** What every method shares that is answered from the index: which block is meant, that it is there, how large an answer may be. */

import { BlockUnavailableError } from '../../ingest/index.ts';
import { NoNodeError, RpcError } from '../../jsonrpc/index.ts';
import type { NodeHeads } from '../../nodes/index.ts';
import { AnswerTooLargeError, type Awaitable, andThen, type TraceReader } from '../../traces/index.ts';
import type { IndexFiller, IndexServices } from '../traces/indexServices.ts';
import type { BlockBound } from './blockTag.ts';

/** The ends of the chain as the index and its node have them together. */
export interface Heads {
  readonly head: number;
  readonly latest: number;
  readonly safe: number | undefined;
  readonly finalized: number | undefined;
}

/**
 * `latest` is the index's head: what it names can be answered at once. Where the node's head has gone below it, it is that
 * one, as `eth_blockNumber` says. A number may go up to the node's head, which is asked for anew before a number past it is
 * refused; next to a number past the index's head `latest` is the node's, so that a range from a block that was just mined up
 * to `latest` is a range.
 */
export function resolveHeads(
  { indexer, store }: IndexServices,
  bounds: readonly BlockBound[],
): Awaitable<Heads> {
  let highest = -1;
  for (const bound of bounds) if (typeof bound === 'number' && bound > highest) highest = bound;
  const next = (heads: Heads | undefined): Awaitable<Heads> =>
    heads === undefined || highest > heads.head
      ? freshHeads(indexer, store, highest)
      : withBound(heads, highest);
  return andThen(headsOf(store, indexer.lastHeads), next);
}

async function freshHeads(indexer: IndexFiller, store: TraceReader, highest: number): Promise<Heads> {
  const heads = await headsOf(store, await indexer.freshHeads());
  if (heads !== undefined) return withBound(heads, highest);
  throw new NoNodeError('the head of the chain is not known yet: no node has answered so far');
}

const withBound = (heads: Heads, highest: number): Heads =>
  highest > heads.latest ? { ...heads, latest: heads.head } : heads;

function headsOf(store: TraceReader, node: NodeHeads | undefined): Awaitable<Heads | undefined> {
  const indexed = store.head();
  // Nearly always the node has told what is final: the index need not be asked.
  const finalized = node?.finalized?.number ?? store.finalizedNumber();
  if (indexed instanceof Promise || finalized instanceof Promise)
    return Promise.all([indexed, finalized]).then(([head, final]) => headsFrom(node, head?.number, final));
  return headsFrom(node, indexed?.number, finalized);
}

function headsFrom(
  node: NodeHeads | undefined,
  indexed: number | undefined,
  finalized: number | undefined,
): Heads | undefined {
  // Before any node has told, what the index has is all that is known.
  const head = node?.latest.number ?? indexed;
  if (head === undefined) return undefined;
  return { head, latest: Math.min(indexed ?? head, head), safe: node?.safe?.number, finalized };
}

/** The number of a block that was named by its number or a tag. Throws RpcError. */
export function resolveBound(heads: Heads, member: string, bound: BlockBound): number {
  if (typeof bound === 'number') return bound;
  if (bound === 'earliest') return 0;
  const number = heads[bound];
  if (number !== undefined) return Math.min(number, heads.latest);
  throw new RpcError('resourceNotFound', `${member}: the node knows no ${bound} block`);
}

/** Refuses a block that the chain does not have yet. */
export function checkHead({ head }: Heads, member: string, blockNumber: number): void {
  if (blockNumber > head)
    throw new RpcError(
      'invalidParams',
      `${member} ${blockNumber} is past the head of the chain, block ${head}`,
      { head },
    );
}

interface BlockRange {
  readonly fromBlock: number;
  readonly toBlock: number;
}

/** A chain that replaces its blocks faster than they can be read is asked again so many times. */
export const MAX_READS = 4;

/**
 * What one read gives of a range of blocks, which gives undefined where one is missing: at once where they are there, else
 * once they were fetched. One read is of one chain, whatever happens to the index between two. Throws RpcError.
 */
export function readBlocks<T>(
  services: IndexServices,
  range: BlockRange,
  read: () => Awaitable<T | undefined>,
): Awaitable<T> {
  return andThen(read(), (held) => held ?? readFetched(services, range, read));
}

async function readFetched<T>(
  { indexer }: IndexServices,
  { fromBlock, toBlock }: BlockRange,
  read: () => Awaitable<T | undefined>,
): Promise<T> {
  for (let left = MAX_READS - 1; left > 0; left--) {
    await fetchMissing(indexer, fromBlock, toBlock);
    const held = await read();
    if (held !== undefined) return held;
  }
  const what = fromBlock === toBlock ? `block ${toBlock} was` : `blocks ${fromBlock} to ${toBlock} were`;
  throw new RpcError('resourceNotFound', `${what} just replaced by another; ask again`, {
    blockNumber: toBlock,
  });
}

/** Sees to it that the index has a range of blocks. Throws RpcError. */
export async function fetchMissing(indexer: IndexFiller, fromBlock: number, toBlock: number): Promise<void> {
  try {
    await indexer.ensure(fromBlock, toBlock);
  } catch (error) {
    if (!(error instanceof BlockUnavailableError)) throw error;
    const { blockNumber } = error;
    throw new RpcError(
      'resourceNotFound',
      `block ${blockNumber} is not in the index, and no node can give it now`,
      {
        blockNumber,
      },
    );
  }
}

/** An answer of the index. Throws RpcError, now or later, where it is too large, with what to do `instead`. */
export function answerInBytes<T>(answer: () => Awaitable<T>, instead: string): Awaitable<T> {
  const refused = (error: unknown): never => {
    if (!(error instanceof AnswerTooLargeError)) throw error;
    const { maxBytes } = error;
    throw new RpcError('limitExceeded', `the answer is over ${maxBytes} bytes: ${instead}`, {
      limit: maxBytes,
    });
  };
  try {
    const bytes = answer();
    return bytes instanceof Promise ? bytes.catch(refused) : bytes;
  } catch (error) {
    return refused(error);
  }
}
