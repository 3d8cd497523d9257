import type { IndexedBlock } from '../traces/index.ts';

/** What happens while the index follows the chain, for logs and metrics. */
export interface IndexerObserver {
  indexed(blocks: readonly IndexedBlock[], nodeHead: number): void;
  reorganised(undoFrom: number, undoneBlocks: number): void;
  failed(error: unknown, retryMs: number): void;
  recovered(): void;
  /** Blocks of the gap between the first block to index and the followed ones were written. */
  filled(blocks: readonly IndexedBlock[], toBlock: number): void;
  /** Nothing is missing any more from the first block to index on. */
  gapClosed(fromBlock: number): void;
}
