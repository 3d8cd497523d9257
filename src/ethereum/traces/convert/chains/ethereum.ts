import type { ChainRules } from './chainRules.ts';
import { type ForkStarts, GENESIS } from './forks.ts';

const ethereum = (name: string, starts: ForkStarts): ChainRules => ({
  name,
  starts,
  areForksAssumed: false,
  rewards: 'scheduled',
  remarks: [],
});

/** Source of all start times: go-ethereum 1.17.10, params/chainspecs. */
export const MAINNET = ethereum('Ethereum', {
  homestead: { block: 1_150_000 },
  byzantium: { block: 4_370_000 },
  constantinople: { block: 7_280_000 },
  istanbul: { block: 9_069_000 },
  berlin: { block: 12_244_000 },
  shanghai: { timestamp: 1_681_338_455 },
  cancun: { timestamp: 1_710_338_135 },
  prague: { timestamp: 1_746_612_311 },
  osaka: { timestamp: 1_764_798_551 },
});

export const SEPOLIA = ethereum('Sepolia', {
  berlin: GENESIS,
  shanghai: { timestamp: 1_677_557_088 },
  cancun: { timestamp: 1_706_655_072 },
  prague: { timestamp: 1_741_159_776 },
  osaka: { timestamp: 1_760_427_360 },
  amsterdam: { timestamp: 1_791_294_816 },
});

export const HOODI = ethereum('Hoodi', {
  cancun: GENESIS,
  prague: { timestamp: 1_742_999_832 },
  osaka: { timestamp: 1_761_677_592 },
});
