import { expect, it } from 'vitest';
import { nameToWire, questionOf } from '../protocol/index.ts';
import { AttackDetector } from './attackDetector.ts';
import { ZoneSeed } from './zoneSeed.ts';

const KEY = { high: 0x1234, low: 0x5678 };
const NOW = Date.UTC(2026, 10, 21);
const ZONE = 'example.test';
type Records = readonly (readonly [owner: string, type: string])[];

function seedOf(detector: AttackDetector, records: Records): ZoneSeed {
  const seed = new ZoneSeed({ zone: ZONE }, { detector });
  for (const [owner, type] of [[ZONE, 'SOA'], ...records] as const) seed.add(nameToWire(owner), type);
  return seed;
}
const byRate = (detector: AttackDetector, zone: string) => detector.zones.get(zone)?.byRate;

it('records outside the zone neither make a name known nor a zone judged by rate', () => {
  const detector = new AttackDetector(KEY, { profile: { maxNames: 1000 } }, NOW);
  for (const name of ['other.test', 'notexample.test']) detector.zones.add(name);
  const { names } = seedOf(detector, [
    [`*.users.${ZONE}`, 'A'],
    ['other.test', 'NS'],
    ['*.notexample.test', 'A'],
    ['*', 'A'],
    ['ns.elsewhere.test', 'A'],
  ]).finish();
  expect(names).toBe(3);
  const { hashHigh, hashLow } = questionOf('ns.elsewhere.test', 1, KEY);
  expect(detector.profile.find(hashHigh, hashLow)).toBe(-1);
  expect(['other.test', 'notexample.test', `users.${ZONE}`].map((zone) => byRate(detector, zone))).toEqual([
    false,
    false,
    true,
  ]);
  expect(detector.zones.outside.byRate).toBe(false);
});

it('a read that fails makes no zone judged by rate, and leaves those that were', () => {
  const detector = new AttackDetector(KEY, { profile: { maxNames: 1000 } }, NOW);
  seedOf(detector, [[`*.users.${ZONE}`, 'A']]).finish();
  seedOf(detector, [
    [`*.${ZONE}`, 'A'],
    [`*.users.${ZONE}`, 'A'],
  ]).abandon();
  expect([byRate(detector, ZONE), byRate(detector, `users.${ZONE}`)]).toEqual([false, true]);
});
