import { ARBITRUM } from './arbitrum.ts';
import type { ChainRules } from './chainRules.ts';
import { HOODI, MAINNET, SEPOLIA } from './ethereum.ts';
import { GENESIS } from './forks.ts';
import { GNOSIS } from './gnosis.ts';
import { OP_STACK } from './opStack.ts';
import { POLYGON } from './polygon.ts';
import { ZKSYNC_ERA } from './zkSync.ts';

/** Rules for chains that are not listed, such as those of anvil and of geth's developer mode: Ethereum's newest. */
const OTHER: ChainRules = {
  name: 'not a listed network',
  starts: { osaka: GENESIS },
  areForksAssumed: true,
  rewards: 'optional',
  remarks: [],
};

const BY_CHAIN: ReadonlyMap<number, ChainRules> = new Map([
  [1, MAINNET],
  [11_155_111, SEPOLIA],
  [560_048, HOODI],
  [10, OP_STACK],
  [8_453, OP_STACK],
  [11_155_420, OP_STACK],
  [84_532, OP_STACK],
  [100, GNOSIS],
  [10_200, GNOSIS],
  [137, POLYGON],
  [80_002, POLYGON],
  [300, ZKSYNC_ERA],
  [324, ZKSYNC_ERA],
  [42_161, ARBITRUM],
  [42_170, ARBITRUM],
  [421_614, ARBITRUM],
]);

/** Returns the rules of a chain. For an unknown chain, Ethereum's newest rules apply from block 0 on. */
export function chainRulesOf(chainId: number): ChainRules {
  return BY_CHAIN.get(chainId) ?? OTHER;
}
