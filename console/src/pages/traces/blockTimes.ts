/** Times of blocks. Traces do not contain them, so they are read from the nodes in batches, and cached. */
import { signal } from '@preact/signals';
import { rpcBatch } from '../../api/rpc.ts';
import type { BlockHeader } from './types.ts';

const BATCH = 20;
const MAX_KEPT = 5_000;

/** Cached ISO times of blocks, with keys such as `mainnet 123`; `null` if no node returned the block. */
export const blockTimes = signal<ReadonlyMap<string, string | null>>(new Map());

export const timeKey = (network: string, block: number): string => `${network} ${block}`;

export const timeOfHeader = ({ timestamp }: Pick<BlockHeader, 'timestamp'>): string =>
  new Date(Number(timestamp) * 1_000).toISOString();

export async function loadBlockTimes(
  network: string,
  blocks: readonly number[],
  abort: AbortSignal,
): Promise<void> {
  const unknown = [...new Set(blocks)].filter((block) => !blockTimes.peek().has(timeKey(network, block)));
  for (let i = 0; i < unknown.length && !abort.aborted; i += BATCH) {
    const batch = unknown.slice(i, i + BATCH);
    const answers = await rpcBatch<BlockHeader | null>(
      network,
      batch.map((block) => ({ method: 'eth_getBlockByNumber', params: [`0x${block.toString(16)}`, false] })),
      abort,
    );
    const known =
      blockTimes.peek().size > MAX_KEPT ? new Map<string, string | null>() : new Map(blockTimes.peek());
    answers.forEach((answer, at) => {
      const header = 'value' in answer ? answer.value : null;
      known.set(timeKey(network, batch[at] ?? 0), header === null ? null : timeOfHeader(header));
    });
    if (!abort.aborted) blockTimes.value = known;
  }
}
