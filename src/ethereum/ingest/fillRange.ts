import { type BlockSource, NodeError, type TraceProvider } from '../nodes/index.ts';
import type { IndexChange, IndexedBlock, TraceStore } from '../traces/index.ts';
import type { AdaptiveConcurrency } from './adaptiveConcurrency.ts';
import { fetchBlocks } from './fetchBlocks.ts';
import { type MissingBlocks, missingBlocks } from './missingBlocks.ts';

/** Number of blocks that are examined at a time. The numbers of the missing ones are kept in memory. */
const WINDOW_BLOCKS = 1024;
/** Pause after the first failure of a node. It doubles with each further failure, up to `LAST_RETRY_MS`. */
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 30_000;

export interface FillOptions {
  readonly store: MissingBlocks & Pick<TraceStore, 'tracesPerChange'>;
  readonly source: TraceProvider | BlockSource;
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly concurrency: AdaptiveConcurrency;
  readonly signal: AbortSignal;
  /** Writes blocks to the index. Resolves when they are stored, after which they are not fetched again. */
  readonly apply: (change: IndexChange) => Promise<void>;
  readonly written: (blocks: readonly IndexedBlock[]) => void;
  /** Called after each failure of a node, with the number of failures in a row. May throw to stop the fill. */
  readonly failed: (error: NodeError, retryMs: number, failuresInARow: number) => void;
}

/**
 * Adds the missing blocks of a range to the index, in ascending order. The index itself is the record of progress, so
 * a fill can be killed and started again. Returns before the range is complete only if it is aborted.
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
      options.concurrency.failed();
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
