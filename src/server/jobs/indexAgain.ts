import type { TraceProvider } from '../../ethereum/nodes/index.ts';
import { segmentOf, type TraceStore } from '../../ethereum/traces/index.ts';
import { withNodes } from '../ethereum/withNodes.ts';
import { type FillIndexOptions, fillFrom, finalBlockOf } from './fillIndex.ts';
import { retryAll } from './retryUnavailable.ts';
import { IndexingError, type NoSpace, withIndex } from './withIndex.ts';

export interface IndexAgainOptions extends FillIndexOptions {
  readonly toBlock: number;
}

/**
 * Checks the blocks of a range in the index of a data folder, derives their posting lists again, and fetches damaged and
 * missing blocks from the nodes. Locks the data folder. Rejects with IndexingError or store errors.
 */
export async function indexAgain(options: IndexAgainOptions): Promise<{ complete: boolean }> {
  const trouble = (message: string): void => options.progress.trouble(message);
  return withIndex(options, async (store, noSpace) => {
    await store.repair?.();
    return withNodes({ ...options, chain: await store.chain(), trouble }, (source) =>
      checkBlocks(store, source, { ...options, noSpace }),
    );
  });
}

async function checkBlocks(
  store: TraceStore,
  source: TraceProvider,
  { fromBlock, signal, progress, noSpace, ...options }: IndexAgainOptions & { readonly noSpace: NoSpace },
): Promise<{ complete: boolean }> {
  const trouble = (message: string): void => progress.trouble(message);
  const head = (await store.head())?.number ?? -1;
  const toBlock = Math.min(options.toBlock, head, await finalBlockOf(source, options.finality));
  for (let segment = segmentOf(fromBlock); segment <= segmentOf(toBlock) && !signal.aborted; segment++) {
    store.noteDamage?.([{ kind: 'segment', segment, isRebuilt: true }]);
    const repair = await store.repair?.();
    for (const failure of repair?.failures ?? []) throw new IndexingError(failure);
    for (const number of repair?.unavailable ?? []) trouble(`block ${number} is damaged`);
    for (const number of repair?.removed ?? []) trouble(`block ${number} is damaged: removed`);
    // Merges the posting lists to disk before those of the next segment are derived.
    await store.apply({ blocks: [] });
  }
  await retryAll(store, source, { signal, trouble });
  if (fromBlock > toBlock) return { complete: true };
  return fillFrom(source, store, { fromBlock, toBlock, signal, progress, noSpace });
}
