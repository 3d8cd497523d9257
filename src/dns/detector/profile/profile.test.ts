import { describe, expect, it } from 'vitest';
import { QueryType } from '../../protocol/index.ts';
import { Profile } from './profile.ts';

const NAME = [0x12345678, 0x9abcdef0] as const;
const NETWORK = 7;
const OTHER_NETWORK = 8;
const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 10, 21);

const small = () => new Profile({ maxNames: 1000 });
const knows = (profile: Profile) => profile.find(...NAME) >= 0;
/** A whole round of sweeps. */
const sweepAll = (profile: Profile, nowMs: number) => {
  for (let i = 0; i < 1300; i++) profile.sweep(nowMs);
};

describe('a name becomes known', () => {
  it('not by being answered once', () => {
    const profile = small();
    expect(profile.learn(...NAME, QueryType.A, NETWORK, NOW)).toBe('first');
    expect(knows(profile)).toBe(false);
  });

  it('not by a retry of the same client', () => {
    const profile = small();
    profile.learn(...NAME, QueryType.A, NETWORK, NOW);
    expect(profile.learn(...NAME, QueryType.A, NETWORK, NOW + 5 * SECOND_MS)).toBe('repeated');
    expect(knows(profile)).toBe(false);
  });

  it('not by the other address type that clients ask for in the same breath', () => {
    const profile = small();
    profile.learn(...NAME, QueryType.A, NETWORK, NOW);
    expect(profile.learn(...NAME, QueryType.AAAA, NETWORK, NOW)).toBe('first');
    expect(knows(profile)).toBe(false);
  });

  it('when it is asked for again later', () => {
    const profile = small();
    profile.learn(...NAME, QueryType.A, NETWORK, NOW);
    expect(profile.learn(...NAME, QueryType.A, NETWORK, NOW + 120 * SECOND_MS)).toBe('learned');
    expect(knows(profile)).toBe(true);
  });

  it('when another network asks for it', () => {
    const profile = small();
    profile.learn(...NAME, QueryType.A, NETWORK, NOW);
    expect(profile.learn(...NAME, QueryType.A, OTHER_NETWORK, NOW)).toBe('learned');
    expect(profile.learn(...NAME, QueryType.A, OTHER_NETWORK, NOW)).toBe('known');
  });

  it('with the types that it was asked for again with, and no other', () => {
    const profile = small();
    for (const network of [NETWORK, OTHER_NETWORK]) profile.learn(...NAME, QueryType.A, network, NOW);
    profile.learn(...NAME, QueryType.MX, NETWORK, NOW);
    const place = profile.find(...NAME);
    expect(profile.hasType(place, QueryType.A)).toBe(true);
    expect(profile.hasType(place, QueryType.MX)).toBe(false);
    profile.learn(...NAME, QueryType.MX, OTHER_NETWORK, NOW);
    expect(profile.hasType(place, QueryType.MX)).toBe(true);
  });
});

describe('a known name', () => {
  it('is forgotten a window after its last answer, and not before', () => {
    const profile = new Profile({ maxNames: 1000, windowMs: 7 * DAY_MS });
    profile.seed(...NAME, 1, NOW);
    sweepAll(profile, NOW + 7 * DAY_MS);
    expect(knows(profile)).toBe(true);
    sweepAll(profile, NOW + 7 * DAY_MS + 2 * HOUR_MS);
    expect(knows(profile)).toBe(false);
  });

  it('stays as long as it is answered', () => {
    const profile = small();
    profile.seed(...NAME, 1, NOW);
    for (let day = 1; day < 30; day++) {
      profile.learn(...NAME, QueryType.A, NETWORK, NOW + day * DAY_MS);
      sweepAll(profile, NOW + day * DAY_MS);
    }
    expect(knows(profile)).toBe(true);
  });

  it('is not aged by a clock that was set back', () => {
    const profile = small();
    profile.seed(...NAME, 1, NOW);
    sweepAll(profile, NOW - 2 * DAY_MS);
    expect(knows(profile)).toBe(true);
  });

  it('is beyond its usual rate after five times the queries it had in any ten seconds before', () => {
    const profile = small();
    profile.seed(...NAME, 1, NOW);
    const place = profile.find(...NAME);
    const ask = (count: number, atMs: number, learning: boolean) =>
      Array.from({ length: count }, () => profile.noteQuery(place, atMs, learning)).filter(Boolean).length;
    ask(400, NOW, true);
    expect(ask(2000, NOW + 10 * SECOND_MS, true)).toBe(0);
    expect(ask(8000, NOW + 20 * SECOND_MS, false)).toBeGreaterThan(5500);
    expect(ask(2000, NOW + 40 * SECOND_MS, false)).toBe(0);
  });

  it('may always be asked for five times a second', () => {
    const profile = small();
    profile.seed(...NAME, 1, NOW);
    const place = profile.find(...NAME);
    const beyond = Array.from({ length: 51 }, () => profile.noteQuery(place, NOW, false));
    expect(beyond.indexOf(true)).toBe(50);
  });
});

describe('a full profile', () => {
  it('gives room to a new name by forgetting an old one, never a seeded one, and never grows', () => {
    const profile = new Profile({ maxNames: 100 });
    const hashOf = (n: number): [number, number] => [Math.imul(n, 0x9e3779b1) >>> 0, n];
    for (let n = 1; n <= 50; n++) profile.seed(...hashOf(n), 1, NOW);
    const bytes = profile.bytes;
    for (let n = 51; n <= 1000; n++)
      for (const network of [NETWORK, OTHER_NETWORK])
        profile.learn(...hashOf(n), 1, network, NOW + (n * HOUR_MS) / 100);
    expect(profile.size).toBeLessThanOrEqual(100);
    expect(profile.bytes).toBe(bytes);
    for (let n = 1; n <= 50; n++) expect(profile.find(...hashOf(n))).toBeGreaterThanOrEqual(0);
  });
});

it('takes at most 24 bytes a name at a million names, the candidates included', () => {
  const profile = new Profile({ maxNames: 1_000_000 });
  for (let n = 1; n <= 1_000_000; n++) profile.seed(Math.imul(n, 0x9e3779b1) >>> 0, n, 1, NOW);
  expect(profile.size).toBe(1_000_000);
  expect(profile.bytes / profile.size).toBeLessThanOrEqual(24);
});

it('is the same after it was stored and restored', () => {
  const profile = small();
  for (let n = 1; n <= 500; n++)
    profile.seed(Math.imul(n, 0x9e3779b1) >>> 0, n, n & 0xffff, NOW - (n * HOUR_MS) / 10);
  const again = small();
  for (const entry of profile.entries()) again.restore(entry, NOW);
  expect(new Set(again.entries())).toEqual(new Set(profile.entries()));
});
