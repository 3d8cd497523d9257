import type { BlockRef, TraceProvider } from '../nodes/index.ts';
import type { StoredBlock, TraceStore } from '../traces/index.ts';

/** The node's chain leaves the index below a finalized block: no reorganisation does that. */
export class FinalityError extends Error {
  override readonly name = 'FinalityError';

  constructor(blockNumber: number) {
    super(
      `the node's chain differs from the index at finalized block ${blockNumber} or below; finalized blocks are never ` +
        'replaced: is this the right node, fully synchronised? If it is, start with an empty data folder',
    );
  }
}

/**
 * The first block of the index that the node's chain does not have, found by walking down from the index's head;
 * undefined where the chains agree. Blocks that are finalized or below a gap are not walked into.
 */
export async function findFork(
  store: TraceStore,
  source: TraceProvider,
  latest: BlockRef,
): Promise<number | undefined> {
  const head = await store.head();
  if (head === undefined) return undefined;
  // A node that is behind says nothing of the blocks above its head: they stay until the chain says otherwise.
  let fork: number | undefined;
  let block: StoredBlock | undefined = head.number > latest.number ? await store.block(latest.number) : head;
  while (block !== undefined) {
    const ref: BlockRef | undefined =
      block.number === latest.number ? latest : await source.blockRef(block.number);
    if (ref === undefined || ref.hash === block.hash) return fork;
    if (block.number <= ((await store.finalizedNumber()) ?? -1)) throw new FinalityError(block.number);
    fork = block.number;
    block = block.number === 0 ? undefined : await store.block(block.number - 1);
  }
  return fork;
}
