import { connect, createTraffic } from '../../support/anvil.ts';

/** No multiple of what other chains use, so that timestamps, and with them hashes, do not meet again. */
const SECONDS_BETWEEN_NEW_BLOCKS = 7;

/**
 * Replaces a node's last `depth` blocks by `blocks` others: fewer shorten the chain, more lengthen it. (`reorganise` of
 * the development chain always makes as many as it takes.)
 */
export async function rebuildTail(
  url: string,
  { depth, blocks, seed }: { readonly depth: number; readonly blocks: number; readonly seed: number },
): Promise<void> {
  await connect(url).call('anvil_rollback', depth);
  const traffic = await createTraffic({ url, seed, blockSeconds: SECONDS_BETWEEN_NEW_BLOCKS });
  await traffic.run({ steps: blocks });
}
