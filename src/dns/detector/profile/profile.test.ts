import { describe, expect, it } from 'vitest';
import { QueryType } from '../../protocol/index.ts';
import { Profile } from './profile.ts';

const NAME = { hashHigh: 0x12345678, hashLow: 0x9abcdef0 };
const A = { ...NAME, type: QueryType.A };
const AAAA = { ...NAME, type: QueryType.AAAA };
const MX = { ...NAME, type: QueryType.MX };
const NETWORK = 7;
const OTHER_NETWORK = 8;
const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 10, 21);

const small = () => new Profile({ maxNames: 1000 });
const placeOf = (profile: Profile, { hashHigh, hashLow } = NAME) => profile.find(hashHigh, hashLow);
const knows = (profile: Profile) => placeOf(profile) >= 0;
const asked = (n: number) => ({ hashHigh: Math.imul(n, 0x9e3779b1) >>> 0, hashLow: n, type: QueryType.A });
/** Runs a full pass of sweeps. */
const sweepAll = (profile: Profile, nowMs: number) => {
  for (let i = 0; i < 1300; i++) profile.sweep(nowMs);
};

describe('a name becomes known', () => {
  it('not after one answer', () => {
    const profile = small();
    expect(profile.learn(A, NETWORK, NOW)).toBe('first');
    expect(knows(profile)).toBe(false);
  });

  it('not after a retry of the same client', () => {
    const profile = small();
    profile.learn(A, NETWORK, NOW);
    expect(profile.learn(A, NETWORK, NOW + 5 * SECOND_MS)).toBe('repeated');
    expect(knows(profile)).toBe(false);
  });

  it('not after a simultaneous query for the other address type', () => {
    const profile = small();
    profile.learn(A, NETWORK, NOW);
    expect(profile.learn(AAAA, NETWORK, NOW)).toBe('first');
    expect(knows(profile)).toBe(false);
  });

  it('when it is queried again later', () => {
    const profile = small();
    profile.learn(A, NETWORK, NOW);
    expect(profile.learn(A, NETWORK, NOW + 120 * SECOND_MS)).toBe('learned');
    expect(knows(profile)).toBe(true);
  });

  it('when another network queries it', () => {
    const profile = small();
    profile.learn(A, NETWORK, NOW);
    expect(profile.learn(A, OTHER_NETWORK, NOW)).toBe('learned');
    expect(profile.learn(A, OTHER_NETWORK, NOW)).toBe('known');
  });

  it.each([0, 1, 2, 3, 4])(
    'under attack, when another network queries it more than 10 and at most 15 s later (%i s into an interval)',
    (second) => {
      const profile = small();
      const firstMs = NOW + second * SECOND_MS;
      profile.learnApart(A, NETWORK, firstMs, 0);
      expect(profile.learnApart(A, OTHER_NETWORK, firstMs + 10 * SECOND_MS, 0)).toBe('repeated');
      expect(profile.learnApart(A, NETWORK, firstMs + 15 * SECOND_MS, 0)).toBe('repeated');
      expect(profile.learnApart(A, OTHER_NETWORK, firstMs + 15 * SECOND_MS, 0)).toBe('learned');
    },
  );

  it('only with the types that were queried repeatedly', () => {
    const profile = small();
    for (const network of [NETWORK, OTHER_NETWORK]) profile.learn(A, network, NOW);
    profile.learn(MX, NETWORK, NOW);
    const place = placeOf(profile);
    expect(profile.hasType(place, QueryType.A)).toBe(true);
    expect(profile.hasType(place, QueryType.MX)).toBe(false);
    profile.learn(MX, OTHER_NETWORK, NOW);
    expect(profile.hasType(place, QueryType.MX)).toBe(true);
  });
});

describe('a known name', () => {
  const OTHER = { hashHigh: 0x7654321, hashLow: 0x12345, type: QueryType.A };
  /** Answers another name of the zone on these days. */
  const otherDays = (profile: Profile, days: readonly number[], zone = 0) => {
    for (const day of days) profile.learn(OTHER, NETWORK, NOW + day * DAY_MS, zone);
  };
  const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);
  const learned = (profile: Profile, zone = 0) => {
    for (const network of [NETWORK, OTHER_NETWORK]) profile.learn(A, network, NOW, zone);
  };

  it('is deleted one window after its last answer, counted in days with answers from its zone', () => {
    const profile = new Profile({ maxNames: 1000, windowMs: 7 * DAY_MS });
    learned(profile);
    otherDays(profile, from(1, 7));
    sweepAll(profile, NOW + 7 * DAY_MS);
    expect(knows(profile)).toBe(true);
    otherDays(profile, [8]);
    sweepAll(profile, NOW + 8 * DAY_MS);
    expect(knows(profile)).toBe(false);
  });

  it('does not age on days without an answer from its zone', () => {
    const profile = small();
    learned(profile, 1);
    otherDays(profile, from(1, 60), 2);
    sweepAll(profile, NOW + 60 * DAY_MS);
    expect(knows(profile)).toBe(true);
  });

  it('stays known as long as it is answered, even while its zone is under attack', () => {
    const profile = small();
    learned(profile);
    for (let day = 1; day < 60; day++) {
      if (day < 30) profile.learn(A, NETWORK, NOW + day * DAY_MS);
      else profile.learnUnderAttack(A, NOW + day * DAY_MS, 0);
      sweepAll(profile, NOW + day * DAY_MS);
    }
    expect(knows(profile)).toBe(true);
  });

  it('is not aged by a clock that was set back', () => {
    const profile = small();
    learned(profile);
    otherDays(profile, [-2, -1, -2, -1, 0]);
    sweepAll(profile, NOW - 2 * DAY_MS);
    expect(profile.days.of(0)).toBeLessThanOrEqual(4);
    expect(knows(profile)).toBe(true);
  });

  it('stays known without queries as long as its zone lists it, and one window longer', () => {
    const profile = small();
    profile.seed(NAME, 1, { zone: 1, generation: 3 });
    const lists = (zone: number, generation: number) => zone === 1 && generation === 3;
    otherDays(profile, from(1, 100), 1);
    for (let i = 0; i < 1300; i++) profile.sweep(NOW, lists);
    expect(knows(profile)).toBe(true);
    sweepAll(profile, NOW);
    otherDays(profile, from(101, 107), 1);
    sweepAll(profile, NOW);
    expect(knows(profile)).toBe(true);
    otherDays(profile, from(108, 109), 1);
    sweepAll(profile, NOW);
    expect(knows(profile)).toBe(false);
  });

  it('is learned in a zone under attack when it is answered on three days', () => {
    const profile = small();
    const at = (day: number) => profile.learnUnderAttack(A, NOW + day * DAY_MS, 0);
    expect([at(0), at(0.1), at(1), at(1.2)]).toEqual(Array(4).fill('repeated'));
    expect(at(2)).toBe('learned');
    expect(at(3)).toBe('known');
  });

  it('exceeds its usual rate above five times its previous maximum of queries in ten seconds', () => {
    const profile = small();
    profile.seed(NAME, 1);
    const place = placeOf(profile);
    const ask = (count: number, atMs: number, learning: boolean) =>
      Array.from({ length: count }, () => profile.noteQuery(place, atMs, learning)).filter(Boolean).length;
    ask(400, NOW, true);
    expect(ask(2000, NOW + 10 * SECOND_MS, true)).toBe(0);
    expect(ask(8000, NOW + 20 * SECOND_MS, false)).toBeGreaterThan(5500);
    expect(ask(2000, NOW + 40 * SECOND_MS, false)).toBe(0);
  });

  it('may always be queried five times per second', () => {
    const profile = small();
    profile.seed(NAME, 1);
    const place = placeOf(profile);
    const beyond = Array.from({ length: 51 }, () => profile.noteQuery(place, NOW, false));
    expect(beyond.indexOf(true)).toBe(50);
  });
});

describe('a full profile', () => {
  const learnTwice = (profile: Profile, n: number, { atMs, zone = 0 }: { atMs: number; zone?: number }) => {
    for (const network of [NETWORK, OTHER_NETWORK]) profile.learn(asked(n), network, atMs, zone);
  };
  const known = (profile: Profile, from: number, to: number) => {
    let count = 0;
    for (let n = from; n <= to; n++) if (placeOf(profile, asked(n)) >= 0) count++;
    return count;
  };

  it('evicts learned names for new ones, never seeded ones, and does not grow', () => {
    const profile = new Profile({ maxNames: 100 });
    for (let n = 1; n <= 50; n++) profile.seed(asked(n), 1);
    const bytes = profile.bytes;
    for (let n = 51; n <= 1000; n++) learnTwice(profile, n, { atMs: NOW + (n * HOUR_MS) / 100 });
    expect(profile.size).toBeLessThanOrEqual(100);
    expect(profile.bytes).toBe(bytes);
    expect(known(profile, 1, 50)).toBe(50);
  });

  it('keeps names queried on three days when many other names are queried twice', () => {
    const profile = new Profile({ maxNames: 1000 });
    for (const day of [0, 1, 2])
      for (let n = 1; n <= 500; n++) learnTwice(profile, n, { atMs: NOW + day * DAY_MS });
    for (let n = 501; n <= 50_000; n++) learnTwice(profile, n, { atMs: NOW + 2 * DAY_MS + n });
    expect(known(profile, 1, 500)).toBe(500);
    expect(profile.size).toBe(1000);
  });

  it('keeps names queried over TCP after two days', () => {
    const profile = new Profile({ maxNames: 1000 });
    for (let n = 1; n <= 500; n++) learnTwice(profile, n, { atMs: NOW });
    for (let n = 1; n <= 500; n++) profile.learn(asked(n), NETWORK, NOW, 0, true);
    for (let n = 1; n <= 500; n++) learnTwice(profile, n, { atMs: NOW + DAY_MS });
    for (let n = 501; n <= 20_000; n++) learnTwice(profile, n, { atMs: NOW + DAY_MS + n });
    expect(known(profile, 1, 500)).toBe(500);
  });

  it('limits the learned names of one zone to half of the profile', () => {
    const profile = new Profile({ maxNames: 1000 });
    learnTwice(profile, 1, { atMs: NOW, zone: 1 });
    for (let n = 2; n <= 5000; n++) learnTwice(profile, n, { atMs: NOW + n, zone: 2 });
    expect(profile.sizeOf(2)).toBe(500);
    for (let n = 5001; n <= 5400; n++) learnTwice(profile, n, { atMs: NOW + n, zone: 1 });
    expect(known(profile, 5001, 5400)).toBe(400);
    expect(profile.sizeOf(2)).toBe(500);
  });

  it('keeps a seed above its share while there is capacity, and evicts it for the share of other zones', () => {
    const profile = new Profile({ maxNames: 1000 });
    profile.seededZones = 2;
    let kept = 0;
    for (let n = 1; n <= 1500; n++) if (profile.seed(asked(n), 1, { zone: 1, generation: 1 })) kept++;
    expect([kept, [...profile.incompleteZones]]).toEqual([1000, [1]]);
    for (let n = 2001; n <= 2300; n++) profile.seed(asked(n), 1, { zone: 2, generation: 1 });
    expect(profile.sizeOf(2)).toBe(300);
    expect(profile.sizeOf(1)).toBe(700);
    expect([...profile.incompleteZones]).toEqual([1]);
  });
});

it('the profile uses at most 24 bytes per name at a million names, including the candidates', () => {
  const profile = new Profile({ maxNames: 1_000_000 });
  for (let n = 1; n <= 1_000_000; n++) profile.seed(asked(n), 1);
  expect(profile.size).toBe(1_000_000);
  expect(profile.bytes / profile.size).toBeLessThanOrEqual(24);
});

it('a restored name still belongs to its zone, whatever the number of the zone', () => {
  const [profile, again] = [small(), small()];
  for (const network of [NETWORK, OTHER_NETWORK]) profile.learn(A, network, NOW, 40);
  for (const entry of profile.entries()) again.restore(entry);
  again.deleteLearned(new Set([8, 41]));
  expect(knows(again)).toBe(true);
  again.deleteLearned(new Set([40]));
  expect(knows(again)).toBe(false);
});

it('a restored profile equals the stored one', () => {
  const profile = small();
  for (let n = 1; n <= 500; n++) profile.seed(asked(n), n & 0xffff, { zone: n * 16, generation: n & 7 });
  const again = small();
  for (const entry of profile.entries()) again.restore(entry);
  expect(new Set(again.entries())).toEqual(new Set(profile.entries()));
});
