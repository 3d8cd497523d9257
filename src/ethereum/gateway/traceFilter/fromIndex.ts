/** What every method shares that is answered from the index: which block is meant, that it is there, how large an answer may be. */

import { BlockUnavailableError, type Indexer } from '../../ingest/index.ts';
import { RpcError } from '../../jsonrpc/index.ts';
import type { NodeHeads } from '../../nodes/index.ts';
import { AnswerTooLargeError, type TraceStore } from '../../traces/index.ts';
import type { BlockBound } from './blockTag.ts';

/** The ends of the chain as the index and its node have them together. */
export interface Heads {
  readonly head: number;
  readonly latest: number;
  readonly safe: number | undefined;
  readonly finalized: number | undefined;
}

/**
 * `latest` is the index's head: what it names can be answered at once. A number may go up to the node's head, which is
 * asked for anew before a number past it is refused; next to a number past the index's head `latest` is the node's, so
 * that a range from a block that was just mined up to `latest` is a range.
 */
export function settledHeads(
  indexer: Indexer,
  store: TraceStore,
  bounds: readonly BlockBound[],
): Heads | Promise<Heads> {
  const heads = headsOf(store, indexer.lastHeads);
  let highest = -1;
  for (const bound of bounds) if (typeof bound === 'number' && bound > highest) highest = bound;
  if (heads === undefined || highest > heads.head) return freshHeads(indexer, store, highest);
  return withBound(heads, highest);
}

async function freshHeads(indexer: Indexer, store: TraceStore, highest: number): Promise<Heads> {
  const heads = headsOf(store, await indexer.freshHeads());
  if (heads !== undefined) return withBound(heads, highest);
  throw new RpcError(
    'resourceUnavailable',
    'the head of the chain is not known yet: no node has answered so far',
  );
}

const withBound = (heads: Heads, highest: number): Heads =>
  highest > heads.latest ? { ...heads, latest: heads.head } : heads;

function headsOf(store: TraceStore, node: NodeHeads | undefined): Heads | undefined {
  const indexed = store.head()?.number;
  const latest = indexed ?? node?.latest.number;
  if (latest === undefined) return undefined;
  return {
    head: Math.max(latest, node?.latest.number ?? 0),
    latest,
    safe: node?.safe?.number,
    finalized: node?.finalized?.number ?? store.finalizedNumber(),
  };
}

/** The number of a block that was named by its number or a tag. Throws RpcError. */
export function settle(heads: Heads, member: string, bound: BlockBound): number {
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

/** Sees to it that the index has a range of blocks. Throws RpcError. */
export async function fetchMissing(indexer: Indexer, fromBlock: number, toBlock: number): Promise<void> {
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
export function answerInBytes<T>(answer: () => Promise<T> | T, instead: string): Promise<T> | T {
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
