/** A zone with a seed of its own below a seeded zone that delegates it. */
import { describe, expect, it } from 'vitest';
import type { Rule } from '../../rules/index.ts';
import { nameToWire, QueryType, questionOf } from '../protocol/index.ts';
import { AttackDetector } from './attackDetector.ts';
import { ZoneSeed } from './zoneSeed.ts';

const KEY = { high: 0x1234, low: 0x5678 };
const NOW = Date.UTC(2026, 10, 21);
const PARENT = 'example.test';
const CHILD = 'sub.example.test';
const RULE: Rule = {
  id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: 'medium',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
  created_on: '2026-11-20T10:00:00.000000+00:00',
  modified_on: '2026-11-20T10:00:00.000000+00:00',
};
const RECORDS: Readonly<Record<string, readonly (readonly [owner: string, type: string])[]>> = {
  [PARENT]: [
    [PARENT, 'SOA'],
    [`www.${PARENT}`, 'A'],
    [CHILD, 'NS'],
    [`ns.${CHILD}`, 'A'],
    [`other.${PARENT}`, 'NS'],
  ],
  [CHILD]: [
    [CHILD, 'SOA'],
    [`www.${CHILD}`, 'A'],
    [`*.users.${CHILD}`, 'A'],
  ],
};

function started(): AttackDetector {
  const detector = new AttackDetector(KEY, { profile: { maxNames: 10_000 } }, NOW);
  detector.setRule(RULE, NOW);
  return detector;
}

/** Adds the records of a zone. The seeding fails if it is not finished. */
function begin(detector: AttackDetector, zone: string): ZoneSeed {
  const seed = new ZoneSeed({ zone }, { detector });
  for (const [owner, type] of RECORDS[zone] ?? []) seed.add(nameToWire(owner), type);
  return seed;
}
const seed = (detector: AttackDetector, zone: string): unknown => begin(detector, zone).finish();

/** Stores what the detector has learned, and restores it in a new one. */
function restart(before: AttackDetector): AttackDetector {
  const after = started();
  for (const entry of before.profile.entries()) after.profile.restore(entry);
  after.restore(before.learned(NOW), NOW);
  return after;
}

const byRate = (detector: AttackDetector, zone: string) => detector.zones.get(zone)?.byRate;

function reasonFor(detector: AttackDetector, name: string): string {
  const question = questionOf(name, QueryType.A, KEY);
  return detector.reasonToPay(question, detector.zones.find(question), NOW);
}

function expectChildJudgedByNames(detector: AttackDetector): void {
  expect(byRate(detector, CHILD)).toBe(false);
  expect([`www.${CHILD}`, `random.${CHILD}`].map((name) => reasonFor(detector, name))).toEqual([
    'none',
    'unknownName',
  ]);
  // The child's own wildcard, and other delegations of the parent.
  expect([`users.${CHILD}`, `other.${PARENT}`].map((zone) => byRate(detector, zone))).toEqual([true, true]);
}

const STEPS = ['expect parent', 'expect child', 'seed parent', 'seed child'] as const;
type Step = (typeof STEPS)[number];
const run = (detector: AttackDetector, step: Step): void => {
  const zone = step.endsWith('parent') ? PARENT : CHILD;
  if (step.startsWith('expect')) detector.expectSeed(zone);
  else seed(detector, zone);
};
const ordersOf = (steps: readonly Step[]): Step[][] =>
  steps.length === 0
    ? [[]]
    : steps.flatMap((first) =>
        ordersOf(steps.filter((step) => step !== first)).map((others) => [first, ...others]),
      );

describe('a child zone with a seed of its own', () => {
  it.each(
    [...ordersOf(STEPS), ...ordersOf(['seed parent', 'seed child'])].map((order) => [order.join(', ')]),
  )('is judged by names: %s', (order) => {
    const detector = started();
    let hasSeed = false;
    for (const step of order.split(', ') as Step[]) {
      run(detector, step);
      hasSeed ||= step.endsWith('child');
      if (hasSeed) expect(byRate(detector, CHILD)).toBe(false);
    }
    detector.tick(NOW + 1000);
    expectChildJudgedByNames(detector);
  });

  it('is judged by names after a seeding of the child or of the parent that failed', () => {
    for (const failing of [CHILD, PARENT])
      for (const later of [CHILD, PARENT]) {
        const detector = started();
        for (const zone of [PARENT, CHILD]) detector.expectSeed(zone);
        for (const zone of [CHILD, PARENT]) seed(detector, zone);
        begin(detector, failing);
        seed(detector, later);
        detector.tick(NOW + 1000);
        expectChildJudgedByNames(detector);
      }
  });

  it('loses no query while all its seedings have failed, and is judged by names after the first success', () => {
    const detector = started();
    for (const zone of [PARENT, CHILD]) detector.expectSeed(zone);
    new ZoneSeed({ zone: CHILD }, { detector });
    seed(detector, PARENT);
    begin(detector, CHILD);
    detector.tick(NOW + 1000);
    expect(byRate(detector, CHILD)).toBe(false);
    expect(reasonFor(detector, `random.${CHILD}`)).toBe('none');
    seed(detector, CHILD);
    expectChildJudgedByNames(detector);
  });

  it('stays judged by names after a restart, in any order and before its zones are read again', () => {
    const before = started();
    for (const zone of [PARENT, CHILD]) seed(before, zone);
    for (const order of [
      [PARENT, CHILD],
      [CHILD, PARENT],
    ]) {
      const after = restart(before);
      for (const zone of order) after.expectSeed(zone);
      expectChildJudgedByNames(after);
      for (const zone of order) seed(after, zone);
      expectChildJudgedByNames(after);
    }
  });

  it('is judged by names if it gets its seed with a restart, and by rate if it loses it', () => {
    const without = started();
    seed(without, PARENT);
    expect(byRate(without, CHILD)).toBe(true);
    for (const order of [
      [PARENT, CHILD],
      [CHILD, PARENT],
    ]) {
      const withSeed = restart(without);
      for (const zone of order) withSeed.expectSeed(zone);
      expect(byRate(withSeed, CHILD)).toBe(false);
      for (const zone of order) seed(withSeed, zone);
      expectChildJudgedByNames(withSeed);
      const again = restart(withSeed);
      again.expectSeed(PARENT);
      seed(again, PARENT);
      expect(byRate(again, CHILD)).toBe(true);
    }
  });
});
