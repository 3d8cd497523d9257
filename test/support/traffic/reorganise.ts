import { connect, KEPT_STATES } from '../../../src/devchain/index.ts';
import type { Quantity } from '../../../src/ethereum/traces/index.ts';
import { createTraffic, type TrafficBlock } from './traffic.ts';

/** anvil must still have the state of the block below. */
const DEEPEST = KEPT_STATES - 2;

/**
 * Replaces the node's last `depth` blocks and returns the new ones. The old blocks and their traces are deleted. The
 * head falls by `depth` at once, then rises block by block.
 *
 * `anvil_reorg` is not used: its blocks all have the timestamp of their common parent, and it accepts no batch of
 * signed transactions.
 */
export async function reorganise(options: {
  readonly url: string;
  readonly depth: number;
  readonly seed: number;
}): Promise<TrafficBlock[]> {
  const { url, depth, seed } = options;
  const node = connect(url);
  const height = Number(await node.call<Quantity>('eth_blockNumber'));
  if (!Number.isInteger(depth) || depth < 1 || depth > Math.min(height, DEEPEST))
    throw new RangeError(`reorganise: depth is ${depth}; it must be from 1 to ${Math.min(height, DEEPEST)}`);
  await node.call('anvil_rollback', depth);
  // A different interval makes each new block differ from the old one, even if both have the same transactions.
  const traffic = await createTraffic({ url, seed, blockSeconds: SECONDS_BETWEEN_NEW_BLOCKS });
  return traffic.run({ steps: depth });
}

/** Not a multiple of other block times, so that no timestamp repeats. */
const SECONDS_BETWEEN_NEW_BLOCKS = 7;
