import { NoNodeError } from '../../jsonrpc/index.ts';
import type { BlockRef } from '../../nodes/index.ts';
import { asking } from '../live/liveBlocks.ts';
import type { CallContext } from '../method.ts';
import { type LogFilter, numberOfBound } from '../methods/logFilter.ts';
import { MAX_LOG_BLOCKS } from '../methods/logRange.ts';
import type { Network } from '../relay/network.ts';
import type { FilterState } from './filterIds.ts';
import { notFound } from './notFound.ts';

/** Blocks that are asked for one by one, where their hashes are wanted. */
const MAX_BLOCKS = 128;

export type ReadBehind = (state: FilterState, context: CallContext) => Promise<readonly string[]>;

/** The head of a network as it is now. Throws NoNodeError where no node has told one. */
export async function headOf({ pool }: Network): Promise<BlockRef> {
  const [node] = pool.nodes;
  // The head of a single node may have moved since it was polled.
  if (pool.isSingle && node !== undefined) await pool.refresh(node);
  const head = pool.heads.latest;
  if (head === undefined) throw new NoNodeError();
  return head;
}

/**
 * What there is behind a block, up to the head, for a filter to which it was not pushed. Rejects with RpcError where the chain has left
 * that block, or it lies too far back: then something could be missing.
 */
export function readBehind(network: Network): ReadBehind {
  const blockAt = asking(network, 'eth_getBlockByNumber');
  const logsOf = asking(network, 'eth_getLogs');
  const hashAt = async (number: number): Promise<unknown> => {
    const block = (await blockAt([hex(number), false])) as { readonly hash?: unknown } | null; // as the row's check says
    return block?.hash;
  };
  return async ({ logs, since }, context) => {
    const head = await headOf(network);
    if (head.hash === since.hash) return [];
    if ((await hashAt(since.number)) !== since.hash)
      throw notFound(
        'the block that it had come to was replaced, and this process does not know what was told since',
      );
    const blocks = head.number - since.number;
    const max = logs === undefined ? MAX_BLOCKS : MAX_LOG_BLOCKS;
    if (blocks > max)
      throw notFound(`it had come to block ${since.number}, which is more than ${max} blocks back`);
    if (logs === undefined) {
      const hashes: string[] = [];
      for (let number = since.number + 1; number <= head.number; number++)
        hashes.push(JSON.stringify(await hashAt(number)));
      return hashes;
    }
    const range = rangeOf(logs, { fromBlock: since.number + 1, toBlock: head.number });
    if (range.fromBlock > range.toBlock) return [];
    const { address, topics } = logs;
    const found = await logsOf(
      [
        {
          ...(address !== undefined && { address }),
          ...(topics !== undefined && { topics }),
          fromBlock: hex(range.fromBlock),
          toBlock: hex(range.toBlock),
        },
      ],
      context,
    );
    return (found as readonly unknown[]).map((log) => JSON.stringify(log)); // a list, as the row's check says
  };
}

const hex = (number: number): string => `0x${number.toString(16)}`;

/** The part of a range that a filter is of. */
function rangeOf(
  { fromBlock, toBlock }: LogFilter,
  range: { readonly fromBlock: number; readonly toBlock: number },
): typeof range {
  return {
    fromBlock: Math.max(range.fromBlock, numberOfBound(fromBlock) ?? 0),
    toBlock: Math.min(range.toBlock, numberOfBound(toBlock) ?? Number.POSITIVE_INFINITY),
  };
}
