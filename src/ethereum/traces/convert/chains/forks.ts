import type { BlockHeader } from '../../index.ts';

/** Ethereum forks that changed intrinsic gas, the set of precompiled contracts or block rewards, oldest first. */
export const FORKS = [
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

/** Start of each fork. At a block, the rules of the newest started fork and of all older ones apply. */
export type ForkStarts = Readonly<Partial<Record<Fork, ForkStart>>>;

export const GENESIS: ForkStart = { block: 0 };

/** Returns the newest fork that has started at a block. */
export function forkAt(
  { starts }: { readonly starts: ForkStarts },
  header: Pick<BlockHeader, 'number' | 'timestamp'>,
): Fork {
  const hasStarted = (fork: Fork) => {
    const start = starts[fork];
    if (start === undefined) return false;
    return 'block' in start ? header.number >= start.block : header.timestamp >= start.timestamp;
  };
  return FORKS.findLast(hasStarted) ?? 'frontier';
}

/** Returns whether the rules of the fork `rule` apply at a block whose newest fork is `under`. */
export function isForkActive(rule: Fork, under: Fork): boolean {
  return FORKS.indexOf(under) >= FORKS.indexOf(rule);
}
