import type { RewardTrace } from '../index.ts';
import { BlockMismatchError } from './blockMismatchError.ts';
import { type ForkSchedule, forkAt, holds } from './forks.ts';
import type { FullHeader } from './parseHeader.ts';
import { quantity } from './quantity.ts';

const ETHER = 10n ** 18n;
/** An uncle counts up to this many blocks back; what it earns falls by one eighth a block. */
const UNCLE_DEPTH = 8n;
/** A block earns one thirty-second more for each uncle that it includes. */
const INCLUSION_SHARE = 32n;

/**
 * The rewards of a mined block as Parity lists them, for nodes that have no `trace_block`: the block's, then those of
 * its uncles in their order. None under proof of stake, for the genesis block, and on chains without mined rewards.
 *
 * @param uncles the headers of the block's uncles, in the order of `header.uncleHashes`.
 * @throws BlockMismatchError where the uncles are not those of the header.
 */
export function blockRewards(
  header: FullHeader,
  uncles: readonly FullHeader[],
  schedule: ForkSchedule,
): RewardTrace[] {
  if (!schedule.minedRewards || header.difficulty === 0n || header.number === 0) return [];
  if (
    uncles.length !== header.uncleHashes.length ||
    uncles.some(({ hash }, i) => hash !== header.uncleHashes[i])
  )
    throw new BlockMismatchError(header.number, 'the uncles are not those that the header lists');
  const full = fullReward(header, schedule);
  const own = full + (full / INCLUSION_SHARE) * BigInt(uncles.length);
  return [
    reward(header, { author: header.miner, rewardType: 'block', value: quantity(own) }),
    ...uncles.map((uncle) => {
      const age = BigInt(header.number - uncle.number);
      if (age < 1n || age >= UNCLE_DEPTH)
        throw new BlockMismatchError(header.number, `uncle ${uncle.hash} is ${age} blocks back`);
      const value = quantity((full * (UNCLE_DEPTH - age)) / UNCLE_DEPTH);
      return reward(header, { author: uncle.miner, rewardType: 'uncle', value });
    }),
  ];
}

/** Five ether, three since EIP-649, two since EIP-1234; in wei. */
function fullReward(header: FullHeader, schedule: ForkSchedule): bigint {
  const fork = forkAt(schedule, header);
  if (holds('constantinople', fork)) return 2n * ETHER;
  return holds('byzantium', fork) ? 3n * ETHER : 5n * ETHER;
}

function reward(header: FullHeader, action: RewardTrace['action']): RewardTrace {
  return {
    action,
    blockHash: header.hash,
    blockNumber: header.number,
    result: null,
    subtraces: 0,
    traceAddress: [],
    transactionHash: null,
    transactionPosition: null,
    type: 'reward',
  };
}
