import { describe, expect, it } from 'vitest';
import { chainRulesOf } from './chainRulesOf.ts';
import { type Fork, forkAt } from './forks.ts';
import { precompilesUnder } from './precompiles.ts';

describe('forks', () => {
  it.each<{ chainId: number; number: number; timestamp: number; fork: Fork }>([
    { chainId: 1, number: 0, timestamp: 0, fork: 'frontier' },
    { chainId: 1, number: 1_149_999, timestamp: 0, fork: 'frontier' },
    { chainId: 1, number: 1_150_000, timestamp: 0, fork: 'homestead' },
    { chainId: 1, number: 4_370_000, timestamp: 0, fork: 'byzantium' },
    { chainId: 1, number: 7_279_999, timestamp: 0, fork: 'byzantium' },
    { chainId: 1, number: 9_069_000, timestamp: 0, fork: 'istanbul' },
    { chainId: 1, number: 12_244_000, timestamp: 0, fork: 'berlin' },
    { chainId: 1, number: 17_034_869, timestamp: 1_681_338_454, fork: 'berlin' },
    { chainId: 1, number: 17_034_870, timestamp: 1_681_338_455, fork: 'shanghai' },
    { chainId: 1, number: 19_426_587, timestamp: 1_710_338_135, fork: 'cancun' },
    { chainId: 1, number: 22_431_084, timestamp: 1_746_612_311, fork: 'prague' },
    { chainId: 1, number: 23_935_694, timestamp: 1_764_798_551, fork: 'osaka' },
    { chainId: 11_155_111, number: 5, timestamp: 0, fork: 'berlin' },
    { chainId: 11_155_111, number: 11_000_000, timestamp: 1_791_294_816, fork: 'amsterdam' },
    { chainId: 560_048, number: 1, timestamp: 0, fork: 'cancun' },
    { chainId: 31_337, number: 0, timestamp: 0, fork: 'osaka' },
    { chainId: 1_337, number: 1, timestamp: 1, fork: 'osaka' },
  ])(
    'the fork of chain $chainId at block $number, time $timestamp is $fork',
    ({ chainId, number, timestamp, fork }) => {
      expect(forkAt(chainRulesOf(chainId), { number, timestamp })).toBe(fork);
    },
  );

  it('add precompiled contracts', () => {
    const counts = (
      ['frontier', 'byzantium', 'istanbul', 'berlin', 'cancun', 'prague', 'amsterdam'] as const
    ).map((fork) => precompilesUnder(fork).size);
    expect(counts).toEqual([4, 8, 9, 9, 10, 17, 18]);
  });
});
