import { expect, it } from 'vitest';
import { QueryType, questionOf } from '../../protocol/index.ts';
import { AttackDetector } from '../attackDetector.ts';
import { MAX_ASSESSED_ZONES } from './zoneAssessments.ts';

const KEY = { high: 1, low: 2 };
const NOW = Date.UTC(2026, 10, 21);
const nameOf = (zone: number) => `zone-${zone}.test`;

it('only the busiest zones are assessed if there are too many, selected every minute', () => {
  const detector = new AttackDetector(KEY, { profile: { maxNames: 1_000 } }, NOW);
  for (let zone = 0; zone <= MAX_ASSESSED_ZONES; zone++) detector.zones.add(nameOf(zone));
  const query = (zone: number) => detector.decide(questionOf(`www.${nameOf(zone)}`, QueryType.A, KEY), NOW);
  const isAssessed = (zone: number) => {
    const found = detector.zones.get(nameOf(zone));
    return found !== undefined && detector.isAssessed(found);
  };
  for (let zone = 0; zone < MAX_ASSESSED_ZONES; zone++) query(zone);
  query(1);
  detector.tick(NOW + 1_000);
  for (let i = 0; i < 3; i++) query(MAX_ASSESSED_ZONES);
  detector.tick(NOW + 2_000);
  expect([isAssessed(1), isAssessed(MAX_ASSESSED_ZONES)]).toEqual([true, false]);
  query(MAX_ASSESSED_ZONES);
  detector.tick(NOW + 62_000);
  expect([isAssessed(1), isAssessed(MAX_ASSESSED_ZONES)]).toEqual([true, true]);
  expect(detector.assessments(NOW + 62_000)).toHaveLength(MAX_ASSESSED_ZONES);
});
