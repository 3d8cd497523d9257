import type { Address } from '../../index.ts';
import { type Fork, isForkActive } from './forks.ts';

// The cast: 40 lower-case hex digits by construction.
const address = (low: number) => `0x${low.toString(16).padStart(40, '0')}` as Address;

/** Address numbers of Ethereum's precompiled contracts by the fork that introduced them. */
const INTRODUCED: ReadonlyArray<readonly [fork: Fork, contracts: readonly number[]]> = [
  ['frontier', [0x01, 0x02, 0x03, 0x04]],
  ['byzantium', [0x05, 0x06, 0x07, 0x08]],
  ['istanbul', [0x09]],
  ['cancun', [0x0a]],
  ['prague', [0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11]],
  ['osaka', [0x100]],
];

const byFork = new Map<Fork, ReadonlySet<Address>>();

/** Returns Ethereum's precompiled contracts under a fork. Those of other chains are not known. */
export function precompilesUnder(fork: Fork): ReadonlySet<Address> {
  const known = byFork.get(fork);
  if (known) return known;
  const contracts = INTRODUCED.filter(([since]) => isForkActive(since, fork)).flatMap(([, lows]) =>
    lows.map(address),
  );
  const set = new Set(contracts);
  byFork.set(fork, set);
  return set;
}
