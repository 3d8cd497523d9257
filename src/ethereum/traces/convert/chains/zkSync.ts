import type { ChainRules } from './chainRules.ts';
import { GENESIS } from './forks.ts';

/**
 * zkSync Era and its Sepolia network. Source: matter-labs/zksync-era,
 * core/node/api_server/src/web3/namespaces/debug.rs.
 */
export const ZKSYNC_ERA: ChainRules = {
  name: 'zkSync Era',
  starts: { osaka: GENESIS },
  areForksAssumed: true,
  rewards: 'optional',
  remarks: [],
  unsupported:
    'zkSync Era cannot be indexed: its root frame is a call of the bootloader, not of the transaction, and its gas has another unit',
};
