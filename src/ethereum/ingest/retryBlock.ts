import type { IndexChange, TraceStore, UnavailableBlock } from '../traces/index.ts';
import { type IndexedSource, indexedBlockOf } from './fetchBlocks.ts';

export interface RetryBlockDependencies {
  readonly store: Pick<TraceStore, 'block'>;
  readonly source: IndexedSource;
  readonly runExclusive: (write: () => Promise<void>) => Promise<void>;
  readonly write: (change: IndexChange) => Promise<void>;
}

/** Result of a retry. `replaced`: the chain has another block at this height, which the chain follower adds. */
export type RetryOutcome = 'indexed' | 'unavailable' | 'replaced';

/** Requests the traces of an unavailable block, and indexes them if a node returns them. Rejects with NodeError. */
export async function retryBlock(
  { number, hash }: UnavailableBlock,
  { store, source, runExclusive, write }: RetryBlockDependencies,
): Promise<RetryOutcome> {
  const block = await indexedBlockOf(source, number);
  if (block?.block.hash !== hash) return 'replaced';
  if (block.block.unavailable !== undefined) return 'unavailable';
  let outcome: RetryOutcome = 'replaced';
  await runExclusive(async () => {
    // The chain may have been reorganised while the nodes traced the block.
    if ((await store.block(number))?.hash !== hash) return;
    await write({ blocks: [block] });
    outcome = 'indexed';
  });
  return outcome;
}
