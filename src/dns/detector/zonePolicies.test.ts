import { describe, expect, it } from 'vitest';
import { zonePolicy } from '../../../test/dns/support/zonePolicy.ts';
import type { Rule } from '../../rules/index.ts';
import { AnswerKind, nameToWire, QueryType, questionOf } from '../protocol/index.ts';
import { AttackDetector } from './attackDetector.ts';
import { outcomeOf, reasonOf } from './verdict.ts';
import { ZoneSeed } from './zoneSeed.ts';

const KEY = { high: 0x1234, low: 0x5678 };
const NOW = Date.UTC(2026, 10, 26);
const ZONE = 'example.test';
const CHILD = `child.${ZONE}`;
const OTHER = 'other.test';
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

function guard(policies: Parameters<typeof zonePolicy>[0][], rule: Partial<Rule> | undefined = {}) {
  const detector = new AttackDetector(KEY, { learnForMinutes: 0, profile: { maxNames: 1000 } }, NOW);
  for (const zone of [ZONE, CHILD, OTHER]) {
    const seed = new ZoneSeed({ zone }, { detector });
    seed.add(nameToWire(`www.${zone}`), 'A');
    seed.finish();
  }
  detector.setRule(rule === undefined ? undefined : { ...RULE, ...rule }, NOW);
  detector.setZonePolicies(policies.map(zonePolicy), NOW);
  return detector;
}

/** Returns how many of 1,000 queries for new names in a zone had each outcome, within one millisecond. */
function flood(detector: AttackDetector, zone: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let n = 0; n < 1000; n++) {
    const verdict = detector.decide(questionOf(`r${n}.${zone}`, QueryType.A, KEY), NOW);
    const outcome = outcomeOf(verdict) === 'passed' ? 'passed' : `${outcomeOf(verdict)} ${reasonOf(verdict)}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

describe('the mode of a zone', () => {
  it.each([
    ['enabled', 'monitoring', 'dropped unknownName'],
    ['monitoring', 'enabled', 'wouldDrop unknownName'],
    ['inherit', 'enabled', 'dropped unknownName'],
    ['inherit', 'monitoring', 'wouldDrop unknownName'],
  ] as const)('%s under a rule in mode %s: %s', (mode, ruleMode, outcome) => {
    const detector = guard([{ zone: ZONE, mode }], { mode: ruleMode });
    expect(flood(detector, ZONE)[outcome]).toBeGreaterThan(100);
  });

  it.each([
    ['without a rule', undefined],
    ['under a disabled rule', { mode: 'disabled' }],
  ] as const)('does not matter %s: everything passes', (_name, rule) => {
    const detector = guard([{ zone: ZONE, mode: 'enabled', rate: 1, burst: 1, judge_by: 'rate' }]);
    detector.setRule(rule === undefined ? undefined : { ...RULE, ...rule }, NOW);
    expect(flood(detector, ZONE)).toEqual({ passed: 1000 });
  });

  it('disabled: everything passes in the zone, and nothing changes in others', () => {
    const detector = guard([{ zone: ZONE, mode: 'disabled' }]);
    expect(flood(detector, ZONE)).toEqual({ passed: 1000 });
    expect(flood(detector, OTHER)['dropped unknownName']).toBeGreaterThan(100);
  });
});

it('a policy covers the names below its zone, down to the next zone with a policy', () => {
  const covering = guard([{ zone: ZONE, mode: 'disabled' }]);
  expect(flood(covering, CHILD)).toEqual({ passed: 1000 });
  const deeper = guard([
    { zone: ZONE, mode: 'disabled' },
    { zone: CHILD, mode: 'enabled' },
  ]);
  expect(flood(deeper, ZONE)).toEqual({ passed: 1000 });
  expect(flood(deeper, CHILD)['dropped unknownName']).toBeGreaterThan(100);
});

it('a zone that becomes known is protected at once, with the policy that covers it', () => {
  const detector = guard([{ zone: `off.${OTHER}`, mode: 'disabled' }]);
  detector.zones.add('new.test');
  detector.zones.add(`deep.off.${OTHER}`);
  expect(flood(detector, 'new.test')).not.toHaveProperty('passed');
  expect(flood(detector, `deep.off.${OTHER}`)).toEqual({ passed: 1000 });
});

it('a policy of the root covers every name, also outside of known zones', () => {
  const detector = guard([{ zone: '.', mode: 'disabled' }]);
  for (const zone of [ZONE, 'nowhere.test']) expect(flood(detector, zone)).toEqual({ passed: 1000 });
});

it('a rate limits all names of the policy together, and sensitivities do not scale it', () => {
  const low = { rate_sensitivity: 'low', burst_sensitivity: 'low' } as const;
  const detector = guard([{ zone: ZONE, judge_by: 'rate', rate: 10, burst: 100 }], low);
  // New names leave a fifth of the burst to names that were answered before.
  expect(flood(detector, ZONE)).toEqual({ 'paid zoneRate': 80, 'dropped zoneRate': 920 });
  expect(flood(detector, CHILD)).toEqual({ 'dropped zoneRate': 1000 });
  expect(flood(detector, OTHER)['paid unknownName']).toBeGreaterThan(100);
});

it('names of a zone judged by names take the tokens of its policy, too', () => {
  const detector = guard([{ zone: ZONE, judge_by: 'names', rate: 10, burst: 50 }]);
  expect(flood(detector, ZONE)['paid unknownName']).toBe(40);
});

it('a policy without a rate has no limit of its own, and is removed without a trace', () => {
  const detector = guard([{ zone: ZONE, rate: 10, burst: 50 }]);
  detector.setZonePolicies([], NOW);
  const [ours, others] = [ZONE, OTHER].map((zone) => flood(guard([]), zone));
  expect(flood(detector, ZONE)).toEqual(ours);
  expect(ours).toEqual(others);
});

it('with only_when_upstream_unhealthy, nothing is limited until the servers are overloaded', () => {
  const detector = guard([{ zone: ZONE, only_when_upstream_unhealthy: true }]);
  expect(flood(detector, ZONE)['dropped unknownName']).toBeUndefined();
  detector.setUpstreamsHealthy(false, NOW);
  expect(flood(detector, ZONE)['dropped unknownName']).toBeGreaterThan(500);
  detector.setUpstreamsHealthy(true, NOW);
  expect(flood(detector, ZONE)['dropped unknownName']).toBeUndefined();
});

it('with only_when_upstream_unhealthy, queries are limited after an overload until the attack has ended', () => {
  const detector = guard([{ zone: ZONE, only_when_upstream_unhealthy: true }]);
  const zone = detector.zones.get(CHILD);
  if (zone === undefined) throw new Error('the zone is missing');
  const limitsAfter = (seconds: number, isHealthy: boolean): boolean => {
    const nowMs = NOW + seconds * 1000;
    detector.setUpstreamsHealthy(isHealthy, nowMs);
    detector.tick(nowMs);
    return detector.mayDrop(zone, 'unknownName', nowMs);
  };
  zone.markAttacked(NOW);
  expect(limitsAfter(0, true)).toBe(false);
  expect(limitsAfter(1, false)).toBe(true);
  zone.markAttacked(NOW + 20_000);
  expect(limitsAfter(31, true)).toBe(true);
  detector.setZonePolicies(
    [zonePolicy({ zone: ZONE, only_when_upstream_unhealthy: true, comment: 'changed' })],
    NOW + 31_000,
  );
  expect(limitsAfter(49, true)).toBe(true);
  expect(limitsAfter(50, true)).toBe(false);
  zone.markAttacked(NOW + 60_000);
  expect(limitsAfter(61, true)).toBe(false);
});

it('unknown_per_second replaces the learned number of unknown names that is an attack', () => {
  const detector = guard([{ zone: ZONE, unknown_per_second: 900 }], { profile_sensitivity: 'low' });
  flood(detector, ZONE);
  expect(detector.zones.get(ZONE)?.attacked(NOW)).toBe(true);
  const higher = guard([{ zone: ZONE, unknown_per_second: 2000 }], { profile_sensitivity: 'low' });
  for (let n = 0; n < 4000; n++) higher.decide(questionOf(`www.${ZONE}`, QueryType.A, KEY), NOW);
  flood(higher, ZONE);
  expect(higher.zones.get(ZONE)?.attacked(NOW)).toBe(false);
});

it('a flood on one zone does not use up the tokens of other zones', () => {
  const detector = guard([]);
  for (let n = 0; n < 20; n++) flood(detector, ZONE);
  expect(detector.zones.get(ZONE)?.attacked(NOW)).toBe(true);
  expect(outcomeOf(detector.decide(questionOf(`new.${OTHER}`, QueryType.A, KEY), NOW))).toBe('paid');
});

it('during an attack, a name that is answered with records to two networks becomes known in a zone that denies others', () => {
  const detector = guard([], { profile_sensitivity: 'low' });
  const question = (name: string) => questionOf(name, QueryType.A, KEY);
  for (let n = 0; n < 100; n++)
    detector.learn(question(`typo${n}.${ZONE}`), { kind: AnswerKind.nxdomain, network: n }, NOW);
  detector.zones.get(ZONE)?.markAttacked(NOW);
  const knows = (name: string) => {
    const { hashHigh, hashLow } = question(name);
    return detector.profile.find(hashHigh, hashLow) >= 0;
  };
  const NEW = `new.${ZONE}`;
  const answered = (network: number, afterSeconds: number) =>
    detector.learn(question(NEW), { kind: AnswerKind.records, network }, NOW + afterSeconds * 1000);
  answered(1, 0);
  answered(1, 20);
  answered(2, 5);
  expect(knows(NEW)).toBe(false);
  answered(2, 25);
  expect(knows(NEW)).toBe(true);
});
