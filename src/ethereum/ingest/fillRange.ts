import { NodeError, type TraceProvider } from '../nodes/index.ts';
import type { IndexChange, IndexedBlock, TraceStore } from '../traces/index.ts';
import { fetchBlocks } from './fetchBlocks.ts';
import { missingBlocks } from './missingBlocks.ts';
import type { Pace } from './pace.ts';

/** Blocks looked at in one go: what is missing of them is listed in memory. */
const WINDOW_BLOCKS = 1024;
/** Pauses after failures: doubled from the first to the last. */
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 30_000;

export interface FillOptions {
  readonly store: Pick<TraceStore, 'firstMissing' | 'tracesPerChange'>;
  readonly source: TraceProvider;
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly pace: Pace;
  readonly signal: AbortSignal;
  /** Writes blocks; nothing is fetched of what it has written. */
  readonly apply: (change: IndexChange) => Promise<void>;
  readonly written: (blocks: readonly IndexedBlock[]) => void;
  /** A node failed so many times in a row; throws where that is enough. */
  readonly failed: (error: NodeError, retryMs: number, failuresInARow: number) => void;
}

/**
 * Adds to the index what is missing of a range of blocks, from the lowest on. It keeps no record of its own: what is in the
 * index is done, so it can be killed at any point and begun again. Ends without having filled the range only when aborted.
 */
export async function fillRange(options: FillOptions): Promise<void> {
  const { store, toBlock, signal } = options;
  let failures = 0;
  for (let cursor: number | undefined = options.fromBlock; !signal.aborted; ) {
    const missing: number | undefined = await store.firstMissing(cursor, toBlock);
    if (missing === undefined) return;
    cursor = missing;
    try {
      await fillWindow(options, missing, () => {
        failures = 0;
      });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof NodeError)) throw error;
      options.pace.failed();
      const retryMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
      options.failed(error, retryMs, ++failures);
      await pause(retryMs, signal);
    }
  }
}

async function fillWindow(options: FillOptions, first: number, progressed: () => void): Promise<void> {
  const { store, apply, written } = options;
  const last = Math.min(options.toBlock, first + WINDOW_BLOCKS - 1);
  const numbers: number[] = [];
  for await (const number of missingBlocks(store, first, last)) numbers.push(number);
  for await (const blocks of fetchBlocks(numbers, options)) {
    await apply({ blocks });
    progressed();
    written(blocks);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
