import type { ChainRules } from './chainRules.ts';
import { GENESIS } from './forks.ts';

/**
 * Gnosis Chain and its test network Chiado. A contract mints bridged xDAI at the end of a block, also since the merge.
 * Nodes list it as rewards of type `external`; their author is the receiver. Source: gnosischain/specs,
 * execution/posdao-post-merge.md.
 */
export const GNOSIS: ChainRules = {
  name: 'Gnosis',
  starts: { osaka: GENESIS },
  areForksAssumed: true,
  rewards: 'node',
  remarks: [
    'Rewards of type external are stored as the node lists them; rewards of zero are dropped',
    'Rewards are not verified, because the header does not determine them',
  ],
};
