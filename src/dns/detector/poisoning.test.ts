/** Attempts to teach the detector by an attack. Each of them once succeeded. */
import { describe, expect, it } from 'vitest';
import { reusedQuestion } from '../../../test/dns/support/reusedQuestion.ts';
import { zonePolicy } from '../../../test/dns/support/zonePolicy.ts';
import type { Rule } from '../../rules/index.ts';
import { AnswerKind, nameToWire, QueryType, questionOf } from '../protocol/index.ts';
import { AttackDetector, type DetectorOptions } from './attackDetector.ts';
import { FIRST_NOT_FORWARDED } from './verdict.ts';
import { ZoneSeed } from './zoneSeed.ts';

const KEY = { high: 0x1234, low: 0x5678 };
const NOW = Date.UTC(2026, 10, 21);
const SECOND_MS = 1000;
const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
const DAY_MS = 24 * 3_600_000;
const ZONE = 'example.test';
const OTHER = 'other.test';
const RULE: Rule = {
  id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: 'low',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
  created_on: '2026-11-20T10:00:00.000000+00:00',
  modified_on: '2026-11-20T10:00:00.000000+00:00',
};
const { records, nxdomain, noData, denial } = AnswerKind;

interface Traffic {
  readonly atMs: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly nameOf: (n: number) => string;
  readonly kind: number | ((n: number) => number);
}

const names = (zone: string, prefix = 'h') => Array.from({ length: 300 }, (_, n) => `${prefix}${n}.${zone}`);

function guard(seeds: readonly string[], options: Partial<DetectorOptions> = {}): AttackDetector {
  const detector = new AttackDetector(KEY, { profile: { maxNames: 2000 }, ...options }, NOW - DAY_MS);
  for (const zone of seeds) seed(detector, zone, names(zone));
  detector.history.restore(Array.from({ length: 300 }, (_, n) => [NOW / 60_000 - 400 + n, 50] as const));
  detector.tick(NOW - SECOND_MS);
  detector.setRule(RULE, NOW);
  return detector;
}

function seed(detector: AttackDetector, zone: string, owners: readonly string[]) {
  const seeding = new ZoneSeed({ zone }, { detector });
  for (const name of owners) seeding.add(nameToWire(name), 'A');
  return seeding.finish();
}

/** Runs traffic; queries that pass are answered. Returns the number of passed queries per second. */
function run(detector: AttackDetector, { atMs, seconds, perSecond, nameOf, kind }: Traffic): number[] {
  const passed: number[] = [];
  for (let second = 0; second < seconds; second++) {
    passed.push(0);
    for (let i = 0; i < perSecond; i++) {
      const nowMs = atMs + second * SECOND_MS + (i * SECOND_MS) / perSecond;
      const n = second * perSecond + i;
      const asked = reusedQuestion(nameOf(n), KEY);
      if (detector.decide(asked, nowMs) >= FIRST_NOT_FORWARDED) continue;
      passed[passed.length - 1] = (passed.at(-1) ?? 0) + 1;
      detector.learn(asked, { kind: typeof kind === 'number' ? kind : kind(n), network: i }, nowMs);
    }
    detector.tick(atMs + (second + 1) * SECOND_MS);
  }
  return passed;
}

const random =
  (zone: string, prefix = 'r') =>
  (n: number) =>
    `${prefix}${n}.${zone}`;
const knows = (detector: AttackDetector, name: string) => {
  const { hashHigh, hashLow } = questionOf(name, QueryType.A, KEY);
  return detector.profile.find(hashHigh, hashLow) >= 0;
};
const knownOf = (detector: AttackDetector, all: readonly string[]) =>
  all.filter((name) => knows(detector, name));
const sweepAll = (detector: AttackDetector, atMs: number) => {
  for (let second = 0; second < 1300; second++) detector.tick(atMs + second * SECOND_MS);
};

describe('a flood is not learned as normal', () => {
  const flood = { seconds: 4, perSecond: 3000, nameOf: random(ZONE, 'f'), kind: nxdomain };

  it.each([
    ['eighty random names a second for ten seconds in a quiet zone', 80, 10],
    ['99 a second for a quarter of an hour', 99, HOUR_SECONDS / 4],
  ])('%s', (_, perSecond, seconds) => {
    const detector = guard([ZONE]);
    run(detector, { atMs: NOW, seconds, perSecond, nameOf: random(ZONE), kind: nxdomain });
    const passed = run(detector, { ...flood, atMs: NOW + seconds * SECOND_MS });
    expect(passed[0]).toBeLessThanOrEqual(1000 + 500 + 100);
    expect(passed.slice(2).every((each) => each <= 101)).toBe(true);
  });

  it('whose answers look like a rush of new names, above the configured alarm', () => {
    const detector = guard([ZONE]);
    const passed = run(detector, { ...flood, atMs: NOW, kind: records });
    expect(passed[3]).toBeLessThanOrEqual(101);
  });

  it('spread over many zones, each below its own alarm', () => {
    const zones = Array.from({ length: 60 }, (_, n) => `z${n}.test`);
    const detector = guard(zones, { profile: { maxNames: 20_000 } });
    const nameOf = (n: number) => `r${n}.z${n % 60}.test`;
    const passed = run(detector, { atMs: NOW, seconds: 4, perSecond: 5400, nameOf, kind: nxdomain });
    expect(passed[3]).toBeLessThanOrEqual(101);
  });

  it('in a zone judged by rate: the baseline at most doubles per day', () => {
    const detector = guard([ZONE], { learnForMinutes: 0 });
    seed(detector, ZONE, [...names(ZONE), `*.users.${ZONE}`]);
    detector.setRule({ ...RULE, rate_sensitivity: 'low' }, NOW);
    detector.tick(NOW);
    const { bucket } = detector.zones.get(`users.${ZONE}`) ?? { bucket: undefined };
    const nameOf = random(`users.${ZONE}`);
    // Exactly at the rate of the bucket, so that it is not an attack.
    for (let minute = 0; minute < 5; minute++) {
      const perSecond = Math.floor(bucket?.ratePerSecond ?? 0);
      run(detector, { atMs: NOW + minute * 60_000, seconds: 60, perSecond, nameOf, kind: records });
    }
    expect(bucket?.ratePerSecond).toBeLessThanOrEqual(202);
  });

  it('in a zone that became judged by rate: one minute of known names does not set its rate', () => {
    const detector = guard([]);
    const days = { learnedSeconds: 2 * DAY_SECONDS, ratePerSecond: 40, unknownPerSecond: 4 };
    const shares = { unknownShare: 0.1, nxdomainShare: 0, positiveAnswers: 0, onceOnlyAnswers: 0 };
    const learned = {
      hashKey: KEY,
      savedMs: NOW,
      rates: [],
      zones: [{ name: OTHER, ...days, ...shares }],
    };
    detector.restore(learned, NOW);
    const users = names(OTHER);
    for (const network of [1, 2])
      for (const name of users) detector.learn(questionOf(name, 1, KEY), { kind: records, network }, NOW);
    const known = (n: number) => users[n % users.length] ?? '';
    run(detector, { atMs: NOW, seconds: 61, perSecond: 4000, nameOf: known, kind: records });
    // Then any name is answered: the answers for unknown names show it.
    const laterMs = NOW + HOUR_SECONDS * SECOND_MS;
    for (let n = 0; n < 20_000; n++)
      detector.learn(reusedQuestion(`o${n}.${OTHER}`, KEY), { kind: records, network: n }, laterMs);
    detector.tick(laterMs);
    const flood = { seconds: 8, perSecond: 2000, nameOf: random(OTHER, 'f'), kind: records };
    const passed = run(detector, { ...flood, atMs: laterMs });
    expect(detector.zones.get(OTHER)?.byRate).toBe(true);
    // Three times the learned rate, and a tenth because the servers answer in time.
    expect(passed[7]).toBeLessThanOrEqual(1.1 * 3 * 40);
  });

  it('thresholds set by the operator override learned ones', () => {
    const thresholds = {
      unknownPerSecond: 1000,
      accountUnknownPerSecond: 5000,
      ratePerSecond: 40,
      burst: 90,
    };
    const detector = guard([ZONE, OTHER], { thresholds });
    detector.setZonePolicies([zonePolicy({ zone: ZONE, unknown_per_second: 4000 })], NOW);
    expect(detector.bucketSize()).toEqual({ ratePerSecond: 40, burst: 90 });
    // Three queries for known names per random one: not an attack by share alone.
    const mixed = (zone: string) => (n: number) => (n % 4 === 0 ? `f${n}.${zone}` : `h${n % 300}.${zone}`);
    const traffic = { atMs: NOW, seconds: 3, perSecond: 6000, kind: records };
    expect(run(detector, { ...traffic, nameOf: mixed(ZONE) })).toEqual([6000, 6000, 6000]);
    const others = run(detector, { ...traffic, atMs: NOW + 3000, nameOf: mixed(OTHER) });
    expect(others[2]).toBeLessThan(4600);
  });
});

describe('a long attack', () => {
  it('does not empty the profile: names that are answered stay known', () => {
    const detector = guard([]);
    detector.zones.add(ZONE);
    const users = names(ZONE);
    for (const network of [1, 2])
      for (const name of users) detector.learn(questionOf(name, 1, KEY), { kind: records, network }, NOW);
    for (let day = 0; day < 10; day++) {
      const atMs = NOW + day * DAY_MS;
      detector.zones.get(ZONE)?.markAttacked(atMs + DAY_MS);
      for (const name of users) detector.learn(questionOf(name, 1, KEY), { kind: records, network: 1 }, atMs);
      sweepAll(detector, atMs);
    }
    expect(knownOf(detector, users)).toHaveLength(users.length);
  });

  it('on one zone does not prevent another one from learning names and rates', () => {
    const detector = guard([ZONE]);
    detector.zones.add(OTHER);
    const nameOf = (n: number) => (n % 2 === 0 ? `r${n}.${ZONE}` : `n${n % 50}.${OTHER}`);
    const kind = (n: number) => (n % 2 === 0 ? nxdomain : records);
    run(detector, { atMs: NOW, seconds: 180, perSecond: 600, nameOf, kind });
    expect(detector.zones.get(ZONE)?.attacked(NOW + 180_000)).toBe(true);
    expect(knows(detector, `n1.${OTHER}`)).toBe(true);
    expect(detector.zones.get(OTHER)?.usual.learnedSeconds).toBe(180);
    expect(detector.history.minutes).toBeLessThanOrEqual(301);
    expect(detector.history.watchedMinutes).toBeGreaterThanOrEqual(302);
  });

  it('teaches a name that is answered on three days, but not one that is often queried on one day', () => {
    const detector = guard([ZONE]);
    const asked = (name: string, day: number) => {
      detector.zones.get(ZONE)?.markAttacked(NOW + day * DAY_MS);
      for (let n = 0; n < 9; n++)
        detector.learn(questionOf(name, 1, KEY), { kind: records, network: n }, NOW + day * DAY_MS + n);
    };
    for (const day of [0, 1, 2]) asked(`needed.${ZONE}`, day);
    asked(`hurried.${ZONE}`, 2);
    expect([knows(detector, `needed.${ZONE}`), knows(detector, `hurried.${ZONE}`)]).toEqual([true, false]);
  });
});

describe('a seed', () => {
  it('keeps a name known as long as the zone lists it; a removed name ages', () => {
    const detector = guard([ZONE]);
    for (let day = 0; day < 20; day++)
      detector.learn(questionOf(`h0.${ZONE}`, 1, KEY), { kind: records, network: 1 }, NOW + day * DAY_MS);
    sweepAll(detector, NOW + 20 * DAY_MS);
    expect(knownOf(detector, names(ZONE))).toHaveLength(300);
    seed(detector, ZONE, names(ZONE).slice(0, 200));
    sweepAll(detector, NOW + 20 * DAY_MS);
    for (let day = 20; day < 30; day++)
      detector.learn(questionOf(`h0.${ZONE}`, 1, KEY), { kind: records, network: 1 }, NOW + day * DAY_MS);
    sweepAll(detector, NOW + 30 * DAY_MS);
    expect(knownOf(detector, names(ZONE)).length).toBe(200);
  });

  it('larger than the profile is kept as far as it fits, and its zone is judged by rate', () => {
    const detector = guard([]);
    for (const zone of [ZONE, OTHER]) detector.expectSeed(zone);
    const many = Array.from({ length: 2500 }, (_, n) => `m${n}.${ZONE}`);
    expect(seed(detector, ZONE, many).skipped).toBe(500);
    expect(detector.zones.get(ZONE)?.byRate).toBe(true);
    expect(seed(detector, OTHER, names(OTHER)).skipped).toBe(0);
    expect(knownOf(detector, names(OTHER))).toHaveLength(300);
    expect(detector.zones.get(OTHER)?.byRate).toBe(false);
    // The zone is read again, and the read fails.
    new ZoneSeed({ zone: ZONE }, { detector });
    detector.tick(NOW);
    expect(detector.zones.get(ZONE)?.byRate).toBe(true);
    seed(detector, ZONE, many.slice(0, 500));
    detector.tick(NOW);
    expect(detector.zones.get(ZONE)?.byRate).toBe(false);
  });
});

describe('a zone that denies by NODATA', () => {
  it.each([
    ['with an NSEC record that has no type', denial],
    ['without an NSEC record', noData],
  ])('%s teaches no name, and a flood of random names is an attack', (_, kind) => {
    const detector = guard([ZONE]);
    run(detector, { atMs: NOW, seconds: 5, perSecond: 900, nameOf: (n) => `r${n % 2000}.${ZONE}`, kind });
    expect(detector.profile.size).toBe(300);
    expect(detector.attack).toBe(true);
    expect(detector.zones.get(ZONE)?.byRate).toBe(false);
  });

  it('is distinguished from a zone that answers NXDOMAIN, in which NODATA proves that a name exists', () => {
    const detector = guard([ZONE]);
    run(detector, { atMs: NOW, seconds: 10, perSecond: 10, nameOf: random(ZONE), kind: nxdomain });
    for (const network of [1, 2])
      detector.learn(questionOf(`six.${ZONE}`, 28, KEY), { kind: noData, network }, NOW);
    expect(knows(detector, `six.${ZONE}`)).toBe(true);
  });
});

it('names queried twice from forged networks evict no name that was queried on three days', () => {
  const detector = guard([]);
  detector.zones.add(ZONE);
  const users = names(ZONE);
  for (const day of [-3, -2, -1])
    for (const network of [1, 2])
      for (const name of users)
        detector.learn(questionOf(name, 1, KEY), { kind: records, network }, NOW + day * DAY_MS);
  for (let n = 0; n < 60_000; n++)
    for (const network of [3, 4])
      detector.learn(questionOf(`r${n}.${ZONE}`, 1, KEY), { kind: records, network }, NOW + n * 11);
  expect(knownOf(detector, users)).toHaveLength(users.length);
});

it('a flood on a restored zone is limited even if its stored shares were manipulated', () => {
  const detector = guard([]);
  const zone = {
    name: ZONE,
    unknownShare: 1,
    nxdomainShare: 1,
    unknownPerSecond: 80,
    ratePerSecond: 80,
    learnedSeconds: 90_000,
    positiveAnswers: 0,
    onceOnlyAnswers: 0,
  };
  detector.restore({ hashKey: KEY, savedMs: NOW, rates: [], zones: [zone] }, NOW);
  const flood = { seconds: 4, perSecond: 3000, nameOf: random(ZONE, 'f'), kind: nxdomain };
  expect(run(detector, { ...flood, atMs: NOW })[3]).toBeLessThanOrEqual(101);
});
