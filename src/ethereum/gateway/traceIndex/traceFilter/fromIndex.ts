/** Functions of all methods of the trace index. They resolve block tags, fetch missing blocks, and limit results. */

import { BlockUnavailableError, NoSpaceError } from '../../../ingest/index.ts';
import { NoNodeError, RpcError } from '../../../jsonrpc/index.ts';
import type { NodeHeads } from '../../../nodes/index.ts';
import {
  AnswerTooLargeError,
  type MaybePromise,
  mapMaybe,
  TooManyTracesError,
  type TraceReader,
} from '../../../traces/index.ts';
import { clientOf } from '../../method.ts';
import type { Caller, IndexFiller, IndexServices } from '../traces/indexServices.ts';
import type { BlockBound } from './blockTag.ts';
import { notFound, storeFor } from './fromNodes.ts';

export interface Heads {
  /** Number of the newest block that the nodes report. */
  readonly head: number;
  /** Number of the block `latest`: the newest indexed one up to `head`, or `head` if a bound is above the index. */
  readonly latest: number;
  /** Number of the safe block. Undefined if no node reports one. */
  readonly safe: number | undefined;
  readonly finalized: number | undefined;
}

/**
 * Resolves block tags to block numbers.
 * - `latest` is the newest indexed block, but never above the head that `eth_blockNumber` returns. It needs no request
 *   to a node.
 * - `safe` and `finalized` are blocks of the chain, even if they are not indexed.
 * - If a bound of the range is above the newest indexed block, `latest` is the head of the nodes, so that a range from
 *   that bound to `latest` is valid.
 *
 * The nodes are polled if a bound is unknown or above their last known head.
 */
export function resolveHeads(
  { indexer, store }: IndexServices,
  bounds: readonly BlockBound[],
): MaybePromise<Heads> {
  const next = (heads: Heads | undefined): MaybePromise<Heads> =>
    heads !== undefined && hasAll(heads, bounds)
      ? withBounds(heads, bounds)
      : freshHeads(indexer, store, bounds);
  return mapMaybe(headsOf(store, indexer.lastHeads), next);
}

async function freshHeads(
  indexer: IndexFiller,
  store: TraceReader,
  bounds: readonly BlockBound[],
): Promise<Heads> {
  const heads = await headsOf(store, await indexer.freshHeads());
  if (heads !== undefined) return withBounds(heads, bounds);
  throw new NoNodeError('the head of the chain is not known yet: no node has responded so far');
}

function hasAll(heads: Heads, bounds: readonly BlockBound[]): boolean {
  for (const bound of bounds) {
    const number = numberOf(heads, bound);
    if (number === undefined || number > heads.head) return false;
  }
  return true;
}

function withBounds(heads: Heads, bounds: readonly BlockBound[]): Heads {
  for (const bound of bounds)
    if ((numberOf(heads, bound) ?? 0) > heads.latest) return { ...heads, latest: heads.head };
  return heads;
}

function numberOf(heads: Heads, bound: BlockBound): number | undefined {
  if (typeof bound === 'number') return bound;
  return bound === 'earliest' ? 0 : heads[bound];
}

const headsOf = (store: TraceReader, node: NodeHeads | undefined): MaybePromise<Heads | undefined> =>
  mapMaybe(store.head(), (indexed) => headsFrom(node, indexed?.number));

function headsFrom(node: NodeHeads | undefined, indexed: number | undefined): Heads | undefined {
  // Until a node has responded, only the newest indexed block is known.
  const head = node?.latest.number ?? indexed;
  if (head === undefined) return undefined;
  const latest = Math.min(indexed ?? head, head);
  return { head, latest, safe: node?.safe?.number, finalized: node?.finalized?.number };
}

/** Returns the number of a block or tag. Throws RpcError if no node reports a block for the tag. */
export function resolveBound(heads: Heads, member: string, bound: BlockBound): number {
  const number = numberOf(heads, bound);
  // A tag must not exceed the head. After a rollback, a node may still report an old `safe` or `finalized` block.
  if (number !== undefined && (typeof bound === 'number' || number <= heads.head)) return number;
  throw new RpcError('resourceNotFound', `${member}: no node reports a ${bound} block`);
}

export function checkHead({ head }: Heads, member: string, blockNumber: number): void {
  if (blockNumber > head)
    throw new RpcError(
      'invalidParams',
      `${member} ${blockNumber} is past the head of the chain, block ${head}`,
      { head },
    );
}

export interface WantedRange {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** The client for which missing blocks are fetched. */
  readonly caller: Caller;
}

/** Reads blocks from the index. Returns undefined if a block is missing. */
export type ReadBlocks<T> = (store: TraceReader) => MaybePromise<T | undefined>;

/** Maximum number of attempts to read blocks. Blocks are read again if they are replaced during an attempt. */
export const MAX_READS = 4;

/**
 * Returns the result of `read` for a range of blocks. If `read` returns undefined because a block is missing, the range
 * is fetched and read again. Each read is consistent, but a reorg may happen between two reads. Throws RpcError.
 */
export function readBlocks<T>(
  services: IndexServices,
  range: WantedRange,
  read: ReadBlocks<T>,
): MaybePromise<T> {
  const store = storeFor(services, range.caller);
  return mapMaybe(read(store), (held) => held ?? readFetched({ ...services, store }, range, read));
}

async function readFetched<T>(
  { store, indexer }: IndexServices,
  { fromBlock, toBlock, caller }: WantedRange,
  read: ReadBlocks<T>,
): Promise<T> {
  for (let left = MAX_READS - 1; left > 0; left--) {
    await ensureIndexed(indexer, { fromBlock, toBlock, caller });
    const held = await read(store);
    if (held !== undefined) return held;
  }
  const what = fromBlock === toBlock ? `block ${toBlock} was` : `blocks ${fromBlock} to ${toBlock} were`;
  throw new RpcError('resourceNotFound', `${what} replaced by another during the request; try again`, {
    blockNumber: toBlock,
  });
}

/**
 * Resolves when the index contains all blocks of a range and the scheduler continues the client. Rejects with RpcError.
 */
export async function ensureIndexed(
  indexer: IndexFiller,
  { fromBlock, toBlock, caller }: WantedRange,
): Promise<void> {
  try {
    await indexer.ensure(fromBlock, toBlock, clientOf(caller));
    // Many requests may have waited for the same blocks.
    await caller.nextTurn?.();
  } catch (error) {
    if (error instanceof NoSpaceError)
      throw new RpcError(
        'resourceUnavailable',
        'a block is not in the index, and the disk has no space for it',
        {
          reason: 'noSpace',
        },
      );
    throw error instanceof BlockUnavailableError ? notFound(error) : error;
  }
}

/** Lets the index follow the chain: it may have blocks that the nodes have replaced since the last poll. */
export async function followChain({ store, indexer }: IndexServices, caller: Caller): Promise<void> {
  // After a reorg to a lower head, the index may still have replaced blocks above that head.
  const known = [indexer.lastHeads?.latest.number ?? -1, (await store.head())?.number ?? -1];
  const above = Math.max(...known) + 1;
  try {
    // Block `above` does not exist yet. If it is requested, the indexer compares its chain with the chain of the nodes.
    await indexer.ensure(above, above, clientOf(caller));
  } catch (error) {
    if (!(error instanceof BlockUnavailableError || error instanceof NoSpaceError)) throw error;
  }
}

/** Returns the result of `answer`. If it is too large, throws or rejects with RpcError that contains `instead`. */
export function withSizeErrors<T>(answer: () => MaybePromise<T>, instead: string): MaybePromise<T> {
  const refused = (error: unknown): never => {
    if (error instanceof TooManyTracesError) throw tooManyTraces(error);
    if (!(error instanceof AnswerTooLargeError)) throw error;
    const { maxBytes } = error;
    throw new RpcError('limitExceeded', `the result exceeds ${maxBytes} bytes: ${instead}`, {
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

const tooManyTraces = ({ limit }: TooManyTracesError): RpcError =>
  new RpcError('limitExceeded', `more than ${limit} traces match: page with \`count\` and \`after\``, {
    limit,
  });
