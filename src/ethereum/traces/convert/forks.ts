import type { BlockHeader } from '../index.ts';

/**
 * The forks of Ethereum that change what a trace shows: what a transaction pays before it runs, which contracts are
 * precompiled, what a mined block earns. Oldest first.
 */
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

/** When a fork takes effect: from a block on or, since the merge, from a time on (seconds since 1970). */
export type ForkStart = { readonly block: number } | { readonly timestamp: number };

/** Which rules hold at which block of a chain. */
export interface ForkSchedule {
  /** The newest fork that has started counts, with all before it: those may be left out. */
  readonly starts: Readonly<Partial<Record<Fork, ForkStart>>>;
  /** Whether mined blocks earn Ethereum's rewards. Not on chains whose blocks are signed by authorities. */
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
  minedRewards: false,
};

/** What anvil and geth's developer mode run from their first block on, and the best guess for any other chain. */
const LATEST: ForkSchedule = { starts: { osaka: GENESIS }, minedRewards: false };

const BY_CHAIN: ReadonlyMap<number, ForkSchedule> = new Map([
  [1, MAINNET],
  [11_155_111, SEPOLIA],
  [560_048, HOODI],
]);

/** The schedule of a chain; for one that is not known, the newest rules that are live on Ethereum, from block 0 on. */
export function forkScheduleOf(chainId: number): ForkSchedule {
  return BY_CHAIN.get(chainId) ?? LATEST;
}

/** The newest fork that holds at a block. */
export function forkAt(schedule: ForkSchedule, header: Pick<BlockHeader, 'number' | 'timestamp'>): Fork {
  const hasStarted = (fork: Fork) => {
    const start = schedule.starts[fork];
    if (start === undefined) return false;
    return 'block' in start ? header.number >= start.block : header.timestamp >= start.timestamp;
  };
  return FORKS.findLast(hasStarted) ?? 'frontier';
}

/** Whether a fork's rules hold under another: they hold from their fork on. */
export function holds(rule: Fork, under: Fork): boolean {
  return FORKS.indexOf(under) >= FORKS.indexOf(rule);
}
