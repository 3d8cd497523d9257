import type { TraceStore } from '../traces/index.ts';

/** Yields the numbers of the blocks of a range that are not in the index, in ascending order. */
export async function* missingBlocks(
  store: Pick<TraceStore, 'firstMissing'>,
  fromBlock: number,
  toBlock: number,
): AsyncGenerator<number> {
  for (let next = fromBlock; next <= toBlock; next++) {
    const missing = await store.firstMissing(next, toBlock);
    if (missing === undefined) return;
    yield missing;
    next = missing;
  }
}
