import type { RewardTrace } from '../../index.ts';
import type { ChainRules } from '../chains/chainRules.ts';
import { forkAt, isForkActive } from '../chains/forks.ts';
import { quantity } from '../json/quantity.ts';
import type { FullHeader } from '../parseHeader.ts';
import { BlockMismatchError } from './blockMismatchError.ts';

const ETHER = 10n ** 18n;
/** An uncle is fewer blocks than this below the block that includes it. Its reward falls by one eighth per block. */
const UNCLE_DEPTH = 8n;
/** A block's reward is 1/32 higher for each uncle that the block includes. */
const INCLUSION_SHARE = 32n;

/**
 * Returns the rewards of a mined block as Parity lists them: the block reward, then the rewards of the uncles in
 * order. There are none under proof of stake, for the genesis block, and on chains without a schedule.
 *
 * @param uncles the headers of the block's uncles, in the order of `header.uncleHashes`.
 * @throws BlockMismatchError if the uncles do not match the header.
 */
export function blockRewards(
  header: FullHeader,
  uncles: readonly FullHeader[],
  rules: ChainRules,
): RewardTrace[] {
  if (rules.rewards !== 'scheduled' || header.difficulty === 0n || header.number === 0) return [];
  if (
    uncles.length !== header.uncleHashes.length ||
    uncles.some(({ hash }, i) => hash !== header.uncleHashes[i])
  )
    throw new BlockMismatchError(header.number, 'the uncles do not match the header');
  const full = fullReward(header, rules);
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

/** Returns the reward in wei of a block without uncles: 5 ETH, 3 ETH since EIP-649, 2 ETH since EIP-1234. */
function fullReward(header: FullHeader, rules: ChainRules): bigint {
  const fork = forkAt(rules, header);
  if (isForkActive('constantinople', fork)) return 2n * ETHER;
  return isForkActive('byzantium', fork) ? 3n * ETHER : 5n * ETHER;
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
