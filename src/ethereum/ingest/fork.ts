import type { BlockRef, TraceProvider } from '../nodes/index.ts';
import type { TraceStore } from '../traces/index.ts';

/** The nodes' chain differs from the index at a finalized block, so the difference is not a reorganisation. */
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
 * Returns the number of the lowest block of the index that is not in the nodes' chain; undefined if there is none.
 * Walks down from the head, across gaps, to the first common block, because all blocks below are its ancestors.
 * Throws FinalityError if a block up to `finalNumber` differs.
 */
export async function findFork(
  store: TraceStore,
  source: TraceProvider,
  { latest, finalNumber }: { readonly latest: BlockRef; readonly finalNumber: number | undefined },
): Promise<number | undefined> {
  let fork: number | undefined;
  // A lagging node knows nothing about blocks above its head. They remain until a node has other blocks there.
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
