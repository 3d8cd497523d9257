import type { TraceStore } from '../traces/index.ts';

/** An index whose missing blocks can be listed. */
export interface MissingBlocks extends Pick<TraceStore, 'firstMissing'> {
  /** Lists the missing blocks of a range of at most 1,024 blocks, if one read of the index is slow. */
  missingIn?(fromBlock: number, toBlock: number): Promise<readonly number[]>;
}

const BLOCKS_PER_READ = 1_024;

/** Yields the numbers of the blocks of a range that are not in the index, in ascending order. */
export async function* missingBlocks(
  store: MissingBlocks,
  fromBlock: number,
  toBlock: number,
): AsyncGenerator<number> {
  if (store.missingIn !== undefined) {
    for (let first = fromBlock; first <= toBlock; first += BLOCKS_PER_READ)
      yield* await store.missingIn(first, Math.min(toBlock, first + BLOCKS_PER_READ - 1));
    return;
  }
  for (let next = fromBlock; next <= toBlock; next++) {
    const missing = await store.firstMissing(next, toBlock);
    if (missing === undefined) return;
    yield missing;
    next = missing;
  }
}
