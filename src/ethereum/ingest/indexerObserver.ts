import type { IndexedBlock, IndexRepair, UnavailableBlock } from '../traces/index.ts';

/** Receives the events of ingest, for logs and metrics. */
export interface IndexerObserver {
  indexed(blocks: readonly IndexedBlock[], nodeHead: number): void;
  reorganised(undoFrom: number, undoneBlocks: number): void;
  failed(error: unknown, retryMs: number): void;
  recovered(): void;
  /** Blocks were written that were missing between the first block to index and the head of the index. */
  filled(blocks: readonly IndexedBlock[], toBlock: number): void;
  /** Blocks that clients had requested were removed, because new ones exceeded the budget. */
  evicted(blocks: number): void;
  /** A block was recorded as unavailable because no node can trace it. */
  unavailable(block: UnavailableBlock): void;
  /** The traces of a block that was unavailable before were written. */
  available(block: UnavailableBlock): void;
  /** Damaged parts of the index were repaired, or could not be repaired. */
  repaired(repair: IndexRepair): void;
  /** The index now has all blocks from `fromBlock` to its head. */
  gapClosed(fromBlock: number): void;
}
