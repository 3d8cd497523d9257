import { expect, it } from 'vitest';
import type { Rule } from '../../rules/index.ts';
import { nameToWire, QueryType, questionOf } from '../protocol/index.ts';
import { AttackDetector } from './attackDetector.ts';
import { explain } from './explain.ts';
import { type Outcome, outcomeOf } from './verdict.ts';
import { ZoneSeed } from './zoneSeed.ts';

const KEY = { high: 0x1234, low: 0x5678 };
const NOW = Date.UTC(2026, 10, 21);
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const READY = 'ready.test';
const LATE = 'late.test';
const NOERROR = 0;
const NXDOMAIN = 3;
const RULE: Rule = {
  id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: 'very_high',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
  created_on: '2026-11-20T10:00:00.000000+00:00',
  modified_on: '2026-11-20T10:00:00.000000+00:00',
};

/** Returns a detector with a learned threshold and one seeded zone, that awaits the names of another zone. */
function waiting(learnForMinutes = 240): AttackDetector {
  const detector = new AttackDetector(
    KEY,
    { profile: { maxNames: 10_000 }, learnForMinutes },
    NOW - 11 * MINUTE_MS,
  );
  detector.expectSeed(READY);
  detector.expectSeed(LATE);
  seed(detector, READY);
  detector.history.restore([[NOW / MINUTE_MS - 12, 50]]);
  detector.tick(NOW - 11 * MINUTE_MS);
  detector.tick(NOW);
  detector.setRule(RULE, NOW);
  return detector;
}

function seed(detector: AttackDetector, zone: string): void {
  const seed = new ZoneSeed({ zone }, { detector });
  for (let n = 0; n < 1000; n++) seed.add(nameToWire(`h${n}.${zone}`), 'A');
  seed.add(nameToWire(`*.users.${zone}`), 'A');
  seed.finish();
}

/** Runs evenly spaced queries; those that pass are answered with `rcode`. Returns the number of queries per outcome. */
function run(
  detector: AttackDetector,
  { seconds, perSecond, nameOf, rcode = NOERROR, type = QueryType.A, startMs = NOW }: Traffic,
): Partial<Record<Outcome, number>> {
  const outcomes: Partial<Record<Outcome, number>> = {};
  for (let second = 0; second < seconds; second++) {
    for (let i = 0; i < perSecond; i++) {
      const nowMs = startMs + second * SECOND_MS + (i * SECOND_MS) / perSecond;
      const question = questionOf(nameOf(second * perSecond + i), type, KEY);
      const outcome = outcomeOf(detector.decide(question, nowMs));
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (outcome !== 'dropped') detector.learn(question, { kind: rcode, network: 1 }, nowMs);
    }
    detector.tick(startMs + (second + 1) * SECOND_MS);
  }
  return outcomes;
}
interface Traffic {
  readonly seconds: number;
  readonly perSecond: number;
  readonly nameOf: (n: number) => string;
  readonly rcode?: number;
  readonly type?: number;
  readonly startMs?: number;
}

it('a zone that is still being read loses no query, uses no tokens, and is not attacked', () => {
  const detector = waiting();
  expect(detector.ready).toBe(true);
  const late = { seconds: 10, perSecond: 1000, nameOf: (n: number) => `h${n % 1000}.${LATE}` };
  expect(run(detector, late)).toEqual({ passed: 10_000 });
  expect(run(detector, { ...late, type: QueryType.MX, startMs: NOW + 10_000 })).toEqual({ passed: 10_000 });
  expect([detector.attack, detector.zones.get(LATE)?.attacked(NOW + 60_000)]).toEqual([false, false]);
  expect(detector.tokens(NOW + 60_000)).toBe(detector.bucketSize().burst);
  expect(
    explain(detector, { name: `h1.${LATE}`, type: { name: 'A', number: 1 } }, NOW + 60_000),
  ).toMatchObject({
    zone: LATE,
    zone_awaits_names: true,
    verdict: 'passes',
  });
  // The seeded zone is protected during that time.
  const flood = { seconds: 5, perSecond: 3000, nameOf: (n: number) => `x${n}.${READY}`, rcode: NXDOMAIN };
  expect(run(detector, { ...flood, startMs: NOW + 60_000 }).dropped).toBeGreaterThan(10_000);
});

it('a zone is protected once its names are known, and its own traffic is not an attack', () => {
  const detector = waiting();
  const users = { perSecond: 3000, nameOf: (n: number) => `h${n % 1000}.${LATE}` };
  // Otherwise, ten minutes of unknown names would become the baseline of the zone.
  run(detector, { ...users, seconds: 600, perSecond: 150 });
  const seededMs = NOW + 600_000;
  for (let i = 0; i < 500; i++) detector.decide(questionOf(`h${i}.${LATE}`, 1, KEY), seededMs);
  seed(detector, LATE);
  detector.tick(seededMs + SECOND_MS);
  expect(detector.attack).toBe(false);
  expect(run(detector, { ...users, seconds: 5, startMs: seededMs + SECOND_MS })).toEqual({ passed: 15_000 });
  expect(detector.attack).toBe(false);
  const flood = { seconds: 3, perSecond: 3000, nameOf: (n: number) => `x${n}.${LATE}`, rcode: NXDOMAIN };
  expect(run(detector, { ...flood, startMs: seededMs + 6 * SECOND_MS }).dropped).toBeGreaterThan(5000);
  expect(detector.zones.get(LATE)?.attacked(seededMs + 9 * SECOND_MS)).toBe(true);
});

it('a zone that is never seeded is judged by learned names after the learning time', () => {
  const detector = waiting(1);
  const users = { perSecond: 300, nameOf: (n: number) => `h${n % 100}.${LATE}` };
  const random = { seconds: 3, perSecond: 3000, nameOf: (n: number) => `x${n}.${LATE}`, rcode: NXDOMAIN };
  run(detector, { ...users, seconds: 59 });
  expect(detector.zones.get(LATE)?.awaitsNames).toBe(true);
  run(detector, { ...users, seconds: 1, startMs: NOW + 59_000 });
  expect(detector.zones.get(LATE)?.awaitsNames).toBe(false);
  expect(run(detector, { ...random, startMs: NOW + 60_000 }).dropped).toBeGreaterThan(5000);
});

it('a zone seeded by a run within the last day stays seeded until it is read again', () => {
  const first = waiting();
  seed(first, LATE);
  const entries = [...first.profile.entries()];
  const later = (afterMs: number): AttackDetector => {
    const detector = new AttackDetector(KEY, { profile: { maxNames: 10_000 } }, NOW + afterMs);
    for (const entry of entries) detector.profile.restore(entry);
    detector.restore(first.learned(NOW), NOW + afterMs);
    detector.expectSeed(LATE);
    return detector;
  };
  const restarted = later(MINUTE_MS);
  expect([restarted.ready, restarted.zones.get(LATE)?.awaitsNames]).toEqual([true, false]);
  // The wildcard's subtree is judged by rate even before its zone is seeded again.
  expect(restarted.zones.get(`users.${LATE}`)?.byRate).toBe(true);
  // The other zone is no longer configured, so its seed is no longer maintained.
  expect(restarted.zones.get(READY)?.seeded).toBe(false);
  expect(restarted.zones.get(`users.${READY}`)?.byRate).toBe(false);
  const longAfter = later(2 * DAY_MS);
  expect([longAfter.ready, longAfter.zones.get(LATE)?.awaitsNames]).toEqual([false, true]);
});

it('a wildcard subtree stays judged by rate while its zone is read again, until the wildcard is gone', () => {
  const detector = waiting();
  const subtree = detector.zones.get(`users.${READY}`);
  const again = new ZoneSeed({ zone: READY }, { detector });
  expect(subtree?.byRate).toBe(true);
  again.add(nameToWire(`h1.${READY}`), 'A');
  expect(subtree?.byRate).toBe(true);
  again.finish();
  expect(subtree?.byRate).toBe(false);
});
