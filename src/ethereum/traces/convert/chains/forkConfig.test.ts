import { describe, expect, it } from 'vitest';
import { blockRulesAt } from './blockRules.ts';
import { chainRulesOf } from './chainRulesOf.ts';
import { parseForkConfig } from './forkConfig.ts';
import type { Fork } from './forks.ts';
import { precompilesUnder } from './precompiles.ts';

const contract = (low: string) => `0x${low.padStart(40, '0')}`;
const named = (addresses: Iterable<string>) =>
  Object.fromEntries([...addresses].map((address, i) => [`CONTRACT_${i}`, address]));
const BUILDER = { BUILDER_DEPOSIT_CONTRACT_ADDRESS: contract('8282') };

/** A fork as geth reports it in `eth_config`. */
const config = (activationTime: number, fork: Fork, more: object = {}) => ({
  activationTime,
  chainId: '0x1',
  forkId: '0x2968c9dd',
  blobSchedule: { target: 6, max: 9 },
  precompiles: named(precompilesUnder(fork)),
  systemContracts: fork === 'amsterdam' ? BUILDER : {},
  ...more,
});

const rulesAt = (chainId: number, timestamp: number, reported: unknown) =>
  blockRulesAt(
    { ...chainRulesOf(chainId), reported: parseForkConfig(reported) },
    { number: 30_000_000, timestamp },
  );

describe('eth_config', () => {
  it.each<Fork>(['shanghai', 'cancun', 'prague', 'osaka', 'amsterdam'])(
    'names no fork, but %s is recognised by its contracts',
    (fork) => {
      expect(parseForkConfig({ current: config(5, fork), next: null, last: null })).toMatchObject([
        { since: 5, fork, precompiles: precompilesUnder(fork) },
      ]);
    },
  );

  it('gives the rules of blocks since the current and the next fork, and the table those of older blocks', () => {
    const reported = { current: config(100, 'prague'), next: config(200, 'amsterdam'), last: null };
    const forks = [99, 100, 199, 200].map((timestamp) => rulesAt(10, timestamp, reported).fork);
    expect(forks).toEqual(['osaka', 'prague', 'prague', 'amsterdam']);
    expect([99, 100].map((timestamp) => rulesAt(10, timestamp, reported).isAssumed)).toEqual([true, false]);
  });

  it('gives the precompiled contracts of a chain that has some of its own', () => {
    const own = contract('203');
    const precompiles = { ...config(0, 'osaka').precompiles, OWN: own };
    const rules = rulesAt(10, 1, { current: config(0, 'osaka', { precompiles }), next: null });
    expect(rules.fork).toBe('osaka');
    expect(rules.precompiles.has(own as never)).toBe(true);
  });

  it('replaces no known fork of Ethereum by an older one', () => {
    const sepolia = 11_155_111;
    const amsterdam = 1_791_294_816;
    const osaka = { current: config(amsterdam, 'osaka'), next: null };
    expect(rulesAt(sepolia, amsterdam, osaka).fork).toBe('amsterdam');
    expect(rulesAt(1, amsterdam, { current: config(amsterdam, 'amsterdam') }).fork).toBe('amsterdam');
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing', null, /eth_config must be an object/],
    [
      'no time',
      { current: config(5, 'osaka', { activationTime: '0x5' }) },
      /activationTime must be a whole number/,
    ],
    [
      'a bad address',
      { current: config(5, 'osaka', { precompiles: { A: '0x1' } }) },
      /precompiles.A must be 20/,
    ],
    [
      'too many contracts',
      { current: config(5, 'osaka', { precompiles: named(Array(257).fill(contract('1'))) }) },
      /precompiles must be at most 256 contracts/,
    ],
  ])('is rejected with %s', (_, answer, message) => {
    expect(() => parseForkConfig(answer)).toThrow(message);
  });
});
