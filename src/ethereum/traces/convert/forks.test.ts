import { describe, expect, it } from 'vitest';
import { type Fork, forkAt, forkScheduleOf } from './forks.ts';
import { precompilesUnder } from './precompiles.ts';

describe('forks', () => {
  it.each<[number, number, number, Fork]>([
    [1, 0, 0, 'frontier'],
    [1, 1_149_999, 0, 'frontier'],
    [1, 1_150_000, 0, 'homestead'],
    [1, 4_370_000, 0, 'byzantium'],
    [1, 7_279_999, 0, 'byzantium'],
    [1, 9_069_000, 0, 'istanbul'],
    [1, 12_244_000, 0, 'berlin'],
    [1, 17_034_869, 1_681_338_454, 'berlin'],
    [1, 17_034_870, 1_681_338_455, 'shanghai'],
    [1, 19_426_587, 1_710_338_135, 'cancun'],
    [1, 22_431_084, 1_746_612_311, 'prague'],
    [1, 23_935_694, 1_764_798_551, 'osaka'],
    [11_155_111, 5, 0, 'berlin'],
    [11_155_111, 11_000_000, 1_791_294_816, 'amsterdam'],
    [560_048, 1, 0, 'cancun'],
    [31_337, 0, 0, 'osaka'],
    [1_337, 1, 1, 'osaka'],
  ])('of chain %i at block %i, time %i: %s', (chainId, number, timestamp, fork) => {
    expect(forkAt(forkScheduleOf(chainId), { number, timestamp })).toBe(fork);
  });

  it('bring precompiled contracts', () => {
    const counts = (
      ['frontier', 'byzantium', 'istanbul', 'berlin', 'cancun', 'prague', 'amsterdam'] as const
    ).map((fork) => precompilesUnder(fork).size);
    expect(counts).toEqual([4, 8, 9, 9, 10, 17, 18]);
  });
});
