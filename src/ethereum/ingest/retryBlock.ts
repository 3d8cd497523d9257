import type { TraceProvider } from '../nodes/index.ts';
import { type IndexChange, indexBlock, type TraceStore, type UnavailableBlock } from '../traces/index.ts';

export interface RetryBlockDependencies {
  readonly store: Pick<TraceStore, 'block'>;
  readonly source: Pick<TraceProvider, 'block'>;
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
  const block = await source.block(number);
  if (block?.header.hash !== hash) return 'replaced';
  if (block.unavailable !== undefined) return 'unavailable';
  let outcome: RetryOutcome = 'replaced';
  await runExclusive(async () => {
    // The chain may have been reorganised while the nodes traced the block.
    if ((await store.block(number))?.hash !== hash) return;
    await write({ blocks: [indexBlock(block.header, block.traces)] });
    outcome = 'indexed';
  });
  return outcome;
}
