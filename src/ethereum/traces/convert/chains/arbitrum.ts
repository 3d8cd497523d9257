import type { ChainRules } from './chainRules.ts';
import { GENESIS } from './forks.ts';

/**
 * Arbitrum One, Arbitrum Nova and Arbitrum Sepolia, with Nitro. A balance change by ArbOS during the execution is a
 * frame of type INVALID: a call with value and without gas. `beforeEVMTransfers` and `afterEVMTransfers` are balance
 * changes outside of frames, such as fees. Source: OffchainLabs/nitro, arbos/util/tracing.go.
 */
export const ARBITRUM: ChainRules = {
  name: 'Arbitrum',
  starts: { osaka: GENESIS },
  areForksAssumed: true,
  rewards: 'optional',
  remarks: [
    'Transfers of ArbOS during a transaction are stored as calls. Those before and after it, such as fees, are not frames',
    'Blocks of Arbitrum One before Nitro (22,207,815) cannot be traced by a Nitro node',
  ],
  hasInvalidFrames: true,
};
