import type { RewardTrace, Trace } from '../../index.ts';
import type { ChainRules } from '../chains/chainRules.ts';
import type { FullHeader } from '../parseHeader.ts';
import { BlockMismatchError } from './blockMismatchError.ts';
import { blockRewards } from './blockRewards.ts';

/** A block's header and the headers of its uncles, in the order of `header.uncleHashes`. */
interface RewardedBlock {
  readonly header: FullHeader;
  readonly uncles: readonly FullHeader[];
}

/**
 * Checks the rewards in a node's `trace_block` result against the schedule of the chain, and returns the traces.
 * Removes the rewards of a proof-of-stake block, because some nodes list one. Checks nothing if the chain has no
 * schedule.
 *
 * @throws BlockMismatchError if the rewards of a mined block differ from the schedule.
 */
export function checkedRewards(
  { header, uncles }: RewardedBlock,
  traces: Trace[],
  rules: ChainRules,
): Trace[] {
  if (rules.rewards !== 'scheduled') return traces;
  if (header.difficulty === 0n) return traces.filter((trace) => !isReward(trace));
  const sent = traces.filter(isReward);
  const due = blockRewards(header, uncles, rules);
  if (sent.length === 0 && due.length > 0)
    throw new BlockMismatchError(header.number, 'the block was mined, and its reward is missing');
  for (let i = 0; i < Math.max(sent.length, due.length); i++) {
    const [got, wanted] = [describe(sent[i]), describe(due[i])];
    if (got !== wanted)
      throw new BlockMismatchError(header.number, `reward ${i} is ${got}, expected ${wanted}`);
  }
  return traces;
}

const isReward = (trace: Trace): trace is RewardTrace => trace.type === 'reward';

const describe = (reward: RewardTrace | undefined): string =>
  reward === undefined
    ? 'missing'
    : `${reward.action.rewardType} ${reward.action.value} to ${reward.action.author}`;
