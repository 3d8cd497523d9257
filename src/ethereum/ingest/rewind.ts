import type { TraceStore } from '../traces/index.ts';

/** Blocks that are removed in one transaction: all that it changes is in memory until it is written. */
const BLOCKS_PER_STEP = 256;

export interface RewindOptions {
  /** The first block that is removed. */
  readonly undoFrom: number;
  /** Whether final ones are removed too. */
  readonly undoFinal: boolean;
  /** So many blocks may be left for one last change; left out: none. */
  readonly leave?: number;
  /** Hears that blocks from a number on were removed. */
  readonly removedFrom?: (blockNumber: number) => void;
}

/** Removes blocks from the head down, some at a time: broken off, it leaves a shorter index, and one of the same chain. */
export async function rewind(
  store: Pick<TraceStore, 'head' | 'apply'>,
  { undoFrom, undoFinal, leave = 0, removedFrom }: RewindOptions,
): Promise<void> {
  for (let head = await store.head(); head !== undefined; head = await store.head()) {
    if (head.number - undoFrom < leave) return;
    const from = Math.max(undoFrom, head.number - BLOCKS_PER_STEP + 1);
    await store.apply({ undoFrom: from, blocks: [], undoFinal });
    removedFrom?.(from);
  }
}
