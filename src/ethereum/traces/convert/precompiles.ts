import type { Address, Trace } from '../index.ts';
import { REVERTED } from './errorName.ts';
import { type Fork, holds } from './forks.ts';
import { ZERO } from './frame.ts';

// The cast: 40 lower-case hex digits by construction.
const address = (low: number) => `0x${low.toString(16).padStart(40, '0')}` as Address;

/** The precompiled contracts of Ethereum by the fork that brought them. */
const BROUGHT: ReadonlyArray<readonly [fork: Fork, contracts: readonly number[]]> = [
  ['frontier', [0x01, 0x02, 0x03, 0x04]],
  ['byzantium', [0x05, 0x06, 0x07, 0x08]],
  ['istanbul', [0x09]],
  ['cancun', [0x0a]],
  ['prague', [0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11]],
  ['osaka', [0x100]],
];

const byFork = new Map<Fork, ReadonlySet<Address>>();

/**
 * The precompiled contracts under a fork. Other chains have more at other places: calls of those stay in the traces,
 * as the clients of those chains give them.
 */
export function precompilesUnder(fork: Fork): ReadonlySet<Address> {
  const known = byFork.get(fork);
  if (known) return known;
  const contracts = BROUGHT.filter(([since]) => holds(since, fork)).flatMap(([, lows]) => lows.map(address));
  const set = new Set(contracts);
  byFork.set(fork, set);
  return set;
}

/**
 * Whether the frame is a call without value, transferred or inherited, of one of these contracts. None of Ethereum's
 * reverts: what does is a contract that a chain of its own rules has at that address. All of them use gas: what uses none is
 * an account without code, at an address that this chain has given to no contract yet (256 before Osaka).
 */
export function isIdlePrecompileCall(trace: Trace, precompiles: ReadonlySet<Address>): boolean {
  if (trace.type !== 'call' || trace.action.value !== ZERO || trace.error === REVERTED) return false;
  if (trace.error === undefined && trace.result?.gasUsed === ZERO) return false;
  return precompiles.has(trace.action.to);
}
