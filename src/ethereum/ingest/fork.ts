import type { BlockRef, TraceProvider } from '../nodes/index.ts';
import type { TraceStore } from '../traces/index.ts';

/** The node's chain leaves the index below a finalized block: no reorganisation does that. */
export class FinalityError extends Error {
  override readonly name = 'FinalityError';

  constructor(blockNumber: number) {
    super(
      `the node's chain differs from the index at finalized block ${blockNumber} or below; finalized blocks are never ` +
        'replaced: is this the right node, fully synchronised? If it is, stop the server and run `floodgate index --rewind ' +
        'BLOCK` with a block that both have; on a development chain, set index.finality to none',
    );
  }
}

/**
 * The first block of the index that the node's chain does not have, found by walking down from the index's head to one that
 * both have, across gaps: blocks below that one are its ancestors, and need not be looked at. Undefined where the chains
 * agree. Throws FinalityError at a block up to `finalNumber`.
 */
export async function findFork(
  store: TraceStore,
  source: TraceProvider,
  { latest, finalNumber }: { readonly latest: BlockRef; readonly finalNumber: number | undefined },
): Promise<number | undefined> {
  let fork: number | undefined;
  // A node that is behind says nothing of the blocks above its head: they stay until the chain says otherwise.
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
