import type { Quantity } from '../ethereum/traces/index.ts';
import { connect } from './node.ts';
import { KEPT_STATES } from './startAnvil.ts';
import { createTraffic, type TrafficBlock } from './traffic.ts';

/** The state of the block below must still be there. */
const DEEPEST = KEPT_STATES - 2;

/**
 * Replaces the node's last `depth` blocks by as many others, and answers these. The old blocks, their hashes and
 * their traces are gone. The node's head falls by `depth` in one instant and then rises block by block.
 *
 * (`anvil_reorg` would do it in one call, but gives all its blocks the timestamp of their common parent and only
 * takes transactions that are unsigned or named one by one.)
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
  // A pace of its own makes every new block differ from the old one, even where both hold the same transactions.
  const traffic = await createTraffic({ url, seed, blockSeconds: SECONDS_BETWEEN_NEW_BLOCKS });
  return traffic.run({ steps: depth });
}

/** No multiple of what other chains use, so that timestamps do not meet again. */
const SECONDS_BETWEEN_NEW_BLOCKS = 7;
