import type { BlockHeader } from '../index.ts';

/** Ethereum forks that changed intrinsic gas, the set of precompiled contracts or block rewards, oldest first. */
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

/** The forks of a chain, and when each of them starts. */
export interface ForkSchedule {
  /** At a block, the rules of the newest started fork and of all older forks apply, so older forks may be omitted. */
  readonly starts: Readonly<Partial<Record<Fork, ForkStart>>>;
  /** True if mined blocks have the rewards that the fork defines, and other blocks none; false if that is unknown. */
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

/** Schedule for chains that are not listed here, such as those of anvil and of geth's developer mode. */
const LATEST: ForkSchedule = { starts: { osaka: GENESIS }, minedRewards: false };

const BY_CHAIN: ReadonlyMap<number, ForkSchedule> = new Map([
  [1, MAINNET],
  [11_155_111, SEPOLIA],
  [560_048, HOODI],
]);

/** Returns the fork schedule of a chain. For an unknown chain, Ethereum's newest rules apply from block 0 on. */
export function forkScheduleOf(chainId: number): ForkSchedule {
  return BY_CHAIN.get(chainId) ?? LATEST;
}

/** Returns the newest fork that has started at a block. */
export function forkAt(schedule: ForkSchedule, header: Pick<BlockHeader, 'number' | 'timestamp'>): Fork {
  const hasStarted = (fork: Fork) => {
    const start = schedule.starts[fork];
    if (start === undefined) return false;
    return 'block' in start ? header.number >= start.block : header.timestamp >= start.timestamp;
  };
  return FORKS.findLast(hasStarted) ?? 'frontier';
}

/** Returns whether the rules of the fork `rule` apply at a block whose newest fork is `under`. */
export function isForkActive(rule: Fork, under: Fork): boolean {
  return FORKS.indexOf(under) >= FORKS.indexOf(rule);
}
