import type { TraceStore } from '../traces/index.ts';

/** The blocks of a range that the index does not have, from the lowest on. */
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
