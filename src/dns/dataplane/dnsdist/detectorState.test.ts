import { expect, it } from 'vitest';
import { zonePolicy } from '../../../../test/dns/support/zonePolicy.ts';
import { exampleRule, type Rule, type ZonePolicy } from '../../../rules/index.ts';
import { AttackDetector } from '../../detector/index.ts';
import { dnsdistStateOf } from './detectorState.ts';

const NOW = Date.UTC(2026, 10, 21);
const ZONE = 'example.test';
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
