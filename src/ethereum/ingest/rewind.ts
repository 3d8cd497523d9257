import type { TraceStore } from '../traces/index.ts';

/** Maximum number of blocks removed per transaction. A transaction is kept in memory until it is written. */
const BLOCKS_PER_STEP = 256;

export interface RewindOptions {
  readonly undoFrom: number;
  /** True if final blocks are removed too. */
  readonly undoFinal: boolean;
  /** Number of blocks that may remain, because the caller removes them with its next change. Default: 0. */
  readonly leave?: number;
  readonly removedFrom?: (blockNumber: number) => void;
}

/** Removes blocks from the head down to `undoFrom`, in steps. An interruption leaves a shorter index of the chain. */
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
