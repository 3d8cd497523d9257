import type { ChainRules } from './chainRules.ts';
import { GENESIS } from './forks.ts';

/**
 * Optimism, Base and their Sepolia networks. In a few blocks, op-geth reports a root of type STOP without recipient: the
 * tracer entered no frame. Source: ethereum-optimism/op-geth#248.
 */
export const OP_STACK: ChainRules = {
  name: 'OP Stack',
  starts: { osaka: GENESIS },
  areForksAssumed: true,
  rewards: 'optional',
  remarks: ['A transaction for which op-geth reports a root of type STOP has no frames'],
  hasStopRoots: true,
};
