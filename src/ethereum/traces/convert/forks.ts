import type { BlockHeader } from '../index.ts';

/** Ethereum forks that affect traces, oldest first: intrinsic gas, set of precompiled contracts, block rewards. */
const FORKS = [
  'frontier',
  'homestead',
  'byzantium',
  'constantinople',
  'istanbul',
  'berlin',
  'shanghai',
  'cancun',
  'prague',
  'osaka',
  'amsterdam',
] as const;
export type Fork = (typeof FORKS)[number];

/** Start of a fork: a block number or, since the merge, a timestamp in seconds since 1970. */
export type ForkStart = { readonly block: number } | { readonly timestamp: number };

/** Forks of a chain by block or time. */
export interface ForkSchedule {
  /** The newest started fork applies and includes all earlier ones, so earlier ones may be omitted. */
  readonly starts: Readonly<Partial<Record<Fork, ForkStart>>>;
  /** False if the chain's rewards are unknown. If true, the fork sets those of mined blocks; others have none. */
  readonly minedRewards: boolean;
}

const GENESIS: ForkStart = { block: 0 };

/** Source: go-ethereum 1.17.10, params/chainspecs. */
const MAINNET: ForkSchedule = {
  starts: {
    homestead: { block: 1_150_000 },
    byzantium: { block: 4_370_000 },
    constantinople: { block: 7_280_000 },
    istanbul: { block: 9_069_000 },
    berlin: { block: 12_244_000 },
    shanghai: { timestamp: 1_681_338_455 },
    cancun: { timestamp: 1_710_338_135 },
    prague: { timestamp: 1_746_612_311 },
    osaka: { timestamp: 1_764_798_551 },
  },
  minedRewards: true,
};

const SEPOLIA: ForkSchedule = {
  starts: {
    berlin: GENESIS,
    shanghai: { timestamp: 1_677_557_088 },
    cancun: { timestamp: 1_706_655_072 },
    prague: { timestamp: 1_741_159_776 },
    osaka: { timestamp: 1_760_427_360 },
    amsterdam: { timestamp: 1_791_294_816 },
  },
  minedRewards: true,
};

const HOODI: ForkSchedule = {
  starts: { cancun: GENESIS, prague: { timestamp: 1_742_999_832 }, osaka: { timestamp: 1_761_677_592 } },
  minedRewards: true,
};

/** Schedule of anvil and geth's developer mode from block 0 on, and default for unknown chains. */
const LATEST: ForkSchedule = { starts: { osaka: GENESIS }, minedRewards: false };

const BY_CHAIN: ReadonlyMap<number, ForkSchedule> = new Map([
  [1, MAINNET],
  [11_155_111, SEPOLIA],
  [560_048, HOODI],
]);

/** Returns a chain's schedule. Default: the newest rules live on Ethereum, active from block 0 on. */
export function forkScheduleOf(chainId: number): ForkSchedule {
  return BY_CHAIN.get(chainId) ?? LATEST;
}

/** Returns the newest fork in effect at a block. */
export function forkAt(schedule: ForkSchedule, header: Pick<BlockHeader, 'number' | 'timestamp'>): Fork {
  const hasStarted = (fork: Fork) => {
    const start = schedule.starts[fork];
    if (start === undefined) return false;
    return 'block' in start ? header.number >= start.block : header.timestamp >= start.timestamp;
  };
  return FORKS.findLast(hasStarted) ?? 'frontier';
}

/** Returns whether the rules of fork `rule` are in effect under fork `under`. */
export function isForkActive(rule: Fork, under: Fork): boolean {
  return FORKS.indexOf(under) >= FORKS.indexOf(rule);
}
