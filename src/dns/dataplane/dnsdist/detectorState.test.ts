import { describe, expect, it } from 'vitest';
import { DnsdistRules } from '../../../../test/dns/support/dnsdistRules.ts';
import { zonePolicy } from '../../../../test/dns/support/zonePolicy.ts';
import { exampleRule, type Rule, type ZonePolicy } from '../../../rules/index.ts';
import { AttackDetector, FIRST_NOT_FORWARDED } from '../../detector/index.ts';
import { QueryType, questionOf } from '../../protocol/index.ts';
import { compileRules } from './compileRules.ts';
import { dnsdistStateOf } from './detectorState.ts';

const NOW = Date.UTC(2026, 10, 21);
const ZONE = 'example.test';
const DAY_SECONDS = 86_400;
const RULE = { ...exampleRule, mode: 'enabled' } as Rule; // the detector reads only these members

function stateOf(policies: readonly ZonePolicy[], areHealthy: boolean) {
  const detector = new AttackDetector({ high: 1, low: 2 }, { learnForMinutes: 0 }, NOW);
  detector.zones.add(ZONE);
  detector.setRule(RULE, NOW);
  detector.setZonePolicies(policies, NOW);
  detector.setUpstreamsHealthy(areHealthy, NOW);
  return dnsdistStateOf(detector, { typeCombinations: [], busyNames: [], unseededZones: [] }, NOW);
}

it.each([
  [true, 'monitoring'],
  [false, 'enabled'],
])('a zone that is limited only under overload is, with healthy servers %s, %s', (areHealthy, mode) => {
  const policy = zonePolicy({ zone: ZONE, only_when_upstream_unhealthy: true });
  const { groups, policies } = stateOf([policy], areHealthy);
  const [{ zone, group } = { zone: '', group: '' }] = policies;
  expect(zone).toBe(ZONE);
  expect(groups.map(({ key, mode }) => [key, mode])).toEqual([
    ['', 'enabled'],
    [group, mode],
  ]);
});

it.each([true, false])('other zones are limited with healthy servers %s', (areHealthy) => {
  const { groups } = stateOf([zonePolicy({ zone: ZONE, profile_sensitivity: 'low' })], areHealthy);
  expect(groups.map(({ mode }) => mode)).toEqual(['enabled', 'enabled']);
});

describe('a zone below another zone', () => {
  const CHILD = `sub.${ZONE}`;
  const KEY = { high: 1, low: 2 };
  const thresholds = {
    unknownPerSecond: 1000,
    accountUnknownPerSecond: 5000,
    ratePerSecond: 1,
    burst: 1,
  };

  function started(): AttackDetector {
    const detector = new AttackDetector(KEY, { learnForMinutes: 0, thresholds }, NOW);
    // The deepest zone is not the first in the list.
    for (const name of [ZONE, CHILD, `low.${CHILD}`]) detector.zones.add(name);
    detector.setRule({ ...RULE, profile_sensitivity: 'low' }, NOW);
    detector.tick(NOW);
    return detector;
  }

  /** Returns whether each data plane limits a flood of unknown names of the zone. */
  function limits(detector: AttackDetector, zone: string): [embedded: boolean, dnsdist: boolean] {
    const names = Array.from({ length: 1000 }, (_, n) => `r${n}.${zone}`);
    const rules = new DnsdistRules();
    const known = { typeCombinations: [], busyNames: [], unseededZones: [] };
    rules.install(compileRules(dnsdistStateOf(detector, known, NOW)));
    const files = { knownTypes: undefined, isLearned: false, isKnownNetwork: false };
    const queries = names.map((name) => ({
      name,
      type: QueryType.A,
      client: '192.0.2.1',
      count: 1,
      ...files,
    }));
    const dropped = rules
      .decide(queries, { startMs: NOW, seconds: 1 })
      .reduce((sum, outcome) => sum + outcome.dropped, 0);
    const refused = names.filter(
      (name) => detector.decide(questionOf(name, QueryType.A, KEY), NOW) >= FIRST_NOT_FORWARDED,
    );
    return [refused.length > 0, dropped > 0];
  }

  it.each([ZONE, CHILD, ''])('is not under attack because "%s" is', (attacked) => {
    const detector = started();
    const zone = attacked === '' ? detector.zones.outside : detector.zones.get(attacked);
    zone?.markAttacked(NOW);
    for (const name of [ZONE, CHILD, `low.${CHILD}`, 'elsewhere.test']) {
      const isAttacked = detector.zones.find(questionOf(name, QueryType.A, KEY)) === zone;
      expect([name, ...limits(detector, name)]).toEqual([name, isAttacked, isAttacked]);
    }
  });

  it('is judged by names if only the zone above it is limited by rate', () => {
    const detector = started();
    const zone = detector.zones.get(ZONE);
    zone?.markBoundless(ZONE);
    if (zone !== undefined) zone.usual.learnedSeconds = DAY_SECONDS;
    detector.tick(NOW + 1000);
    expect(limits(detector, CHILD)).toEqual([false, false]);
    expect(limits(detector, `low.${CHILD}`)).toEqual([false, false]);
    expect(limits(detector, ZONE)).toEqual([true, true]);
  });
});
