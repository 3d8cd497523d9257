/** Times of blocks. Traces do not contain them, so they are read from the nodes in batches, and cached. */
import { rpcBatch } from '../../api/rpc.ts';
import { batchCache } from './batchCache.ts';
import type { BlockHeader } from './types.ts';

const BATCH = 20;

export const timeOfHeader = ({ timestamp }: Pick<BlockHeader, 'timestamp'>): string =>
  new Date(Number(timestamp) * 1_000).toISOString();

/** ISO times of blocks; `null` if no node returned the block. */
export const blockTimes = batchCache<number, string | null>(BATCH, async (network, blocks, abort) => {
  const calls = blocks.map((block) => ({
    method: 'eth_getBlockByNumber',
    params: [`0x${block.toString(16)}`, false],
  }));
  const answers = await rpcBatch<BlockHeader | null>(network, calls, abort);
  return answers.map((answer) => ('value' in answer && answer.value ? timeOfHeader(answer.value) : null));
});
