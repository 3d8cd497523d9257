import type { BlockRef, TraceProvider } from '../nodes/index.ts';
import type { TraceStore } from '../traces/index.ts';

/** The node's chain differs from the index at or below a finalized block, so this is not a reorganisation. */
export class FinalityError extends Error {
  override readonly name = 'FinalityError';

  constructor(blockNumber: number) {
    super(
      `the node's chain differs from the index at finalized block ${blockNumber} or below; finalized blocks are never ` +
        'replaced. Check that this is the right node and fully synchronised. If it is, stop the server and run `floodgate ' +
        'index --rewind BLOCK` with a block that both have; on a development chain, set index.finality to none',
    );
  }
}

/**
 * Returns the first block of the index that is not in the node's chain; undefined if the chains agree. Walks down
 * from the head, across gaps, to the first common block, because all blocks below are its ancestors. Throws
 * FinalityError if a block up to `finalNumber` differs.
 */
export async function findFork(
  store: TraceStore,
  source: TraceProvider,
  { latest, finalNumber }: { readonly latest: BlockRef; readonly finalNumber: number | undefined },
): Promise<number | undefined> {
  let fork: number | undefined;
  // A lagging node has no information about blocks above its head; those blocks stay until a node contradicts them.
  let block = await store.lastBlock(latest.number);
  while (block !== undefined) {
    const ref: BlockRef | undefined =
      block.number === latest.number ? latest : await source.blockRef(block.number);
    if (ref === undefined || ref.hash === block.hash) return fork;
    if (block.number <= (finalNumber ?? -1)) throw new FinalityError(block.number);
    fork = block.number;
    block = block.number === 0 ? undefined : await store.lastBlock(block.number - 1);
  }
  return fork;
}
