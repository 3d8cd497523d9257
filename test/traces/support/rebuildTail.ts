import { connect, createTraffic } from '../../support/anvil.ts';

/** Not a multiple of other block times, so that timestamps, and therefore hashes, never match again. */
const SECONDS_BETWEEN_NEW_BLOCKS = 7;

/**
 * Replaces a node's last `depth` blocks with `blocks` others, so the chain can become shorter or longer. (`reorganise`
 * of the development chain always keeps its length.)
 */
export async function rebuildTail(
  url: string,
  { depth, blocks, seed }: { readonly depth: number; readonly blocks: number; readonly seed: number },
): Promise<void> {
  await connect(url).call('anvil_rollback', depth);
  const traffic = await createTraffic({ url, seed, blockSeconds: SECONDS_BETWEEN_NEW_BLOCKS });
  await traffic.run({ steps: blocks });
}
