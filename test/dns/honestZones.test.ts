/**
 * Legitimate traffic with unusual names is not limited permanently, and attackers gain no more from that than
 * docs/internals/dns-threats.md states.
 */
import { describe, expect, it } from 'vitest';
import { type Learned, verdictOf } from '../../src/dns/detector/index.ts';
import {
  HOUR,
  HonestWorld,
  MINUTE,
  mixed,
  namesOf,
  newNames,
  nxdomain,
  records,
  type WorldOptions,
} from './honest/world.ts';
import { zonePolicy } from './support/zonePolicy.ts';

const LEARN_MINUTES = 10;
const detector = { learnForMinutes: LEARN_MINUTES, profile: { maxNames: 5000 } };
const RATE = 250;
/** Factor of the learned rate at sensitivity `medium`. */
const HEADROOM = 3;
const PAID_ZONE_RATE = verdictOf('paid', 'zoneRate');

describe('recurring names under a seeded wildcard', () => {
  const ZONE = 'example.com';
  const WILD = `wild.${ZONE}`;
  const seeds = { [ZONE]: [`www.${ZONE}`, `mail.${ZONE}`, `*.${WILD}`] };
  const world = (options: WorldOptions = {}) => new HonestWorld({ seeds, detector, ...options });
  const tenants = namesOf(
    Array.from({ length: 500 }, (_, n) => `tenant${n}.${WILD}`),
    records,
  );
  const honest = (seconds: number, perSecond = RATE) => ({ seconds, perSecond, ask: tenants });
  const flood = (seconds: number, perSecond = 5000) => ({
    seconds,
    perSecond,
    ask: newNames(WILD, records, 'f'),
  });
  const zoneOf = ({ detector: guard }: HonestWorld) => guard.zones.get(WILD);

  it('are all answered at 250/s from the first second on, also across restarts, and are not reported as an attack', () => {
    const guard = world();
    for (let part = 0; part < 4; part++) {
      // The first restart is in the middle of the learning time.
      const seconds = part === 0 ? (LEARN_MINUTES / 2) * MINUTE : 10 * MINUTE;
      expect(guard.run(honest(seconds))).toBe(seconds * RATE);
      expect(guard.detector.attack).toBe(false);
      guard.restart();
    }
    guard.overload();
    expect(zoneOf(guard)?.awaitsRate).toBe(false);
    expect(guard.run(honest(MINUTE))).toBe(MINUTE * RATE);
    expect(guard.detector.zoneBucketSizes(zoneOf(guard) ?? guard.detector.zones.outside).unknown).toEqual({
      ratePerSecond: HEADROOM * RATE,
      burst: 5 * HEADROOM * RATE,
    });
  });

  it('are all answered for hours with the default learning time', () => {
    const guard = world({ detector: {} });
    // Above the floor of 100/s, but below 250/s to keep the test short.
    expect(guard.run(honest(4 * HOUR + 10 * MINUTE, 125))).toBe((4 * HOUR + 10 * MINUTE) * 125);
    guard.overload();
    expect([guard.detector.attack, zoneOf(guard)?.awaitsRate]).toEqual([false, false]);
    expect(guard.run(honest(MINUTE, 125))).toBe(MINUTE * 125);
  });

  it.each(['monitoring', 'disabled'] as const)('teach the zone its rate under a rule in mode %s', (mode) => {
    const guard = world({ rule: { mode } });
    guard.run(honest(LEARN_MINUTES * MINUTE));
    guard.setMode('enabled');
    guard.overload();
    expect(zoneOf(guard)?.awaitsRate).toBe(false);
    expect(guard.run(honest(10 * MINUTE))).toBe(10 * MINUTE * RATE);
    expect(guard.detector.attack).toBe(false);
  });

  it.each(['enabled', 'monitoring', 'disabled'] as const)(
    'teach the zone its rate under a rule in mode %s, even if an earlier version limited them to the floor',
    (mode) => {
      const guard = world({ rule: { mode } });
      guard.run(honest(3, 10));
      // State that the earlier version stored for such a zone after hours: three learned seconds and an attack.
      guard.restart((learned) =>
        withZone(learned, WILD, { attacked: true, learnedSeconds: 3, ratePerSecond: 0 }),
      );
      guard.run(honest(LEARN_MINUTES * MINUTE));
      guard.setMode('enabled');
      guard.overload();
      expect(guard.run(honest(5 * MINUTE))).toBe(5 * MINUTE * RATE);
    },
  );

  it('are limited to their rate while servers are overloaded, and the limit at most doubles in a day', () => {
    const guard = world();
    guard.run(honest(LEARN_MINUTES * MINUTE));
    guard.overload();
    expect(guard.run(flood(60))).toBeLessThanOrEqual((60 + 5) * HEADROOM * RATE);
    expect(guard.detector.attack).toBe(true);
    expect(zoneOf(guard)).toMatchObject({ detectedBy: 'zone_rate' });
    expect(zoneOf(guard)?.attacked(guard.nowMs)).toBe(false);
    // The limit follows legitimate growth while it applies, at most by a factor of two a day.
    guard.run(honest(HOUR, 300));
    const rate = zoneOf(guard)?.usual.busiest.unknown.perSecond ?? 0;
    expect(rate).toBeGreaterThan(RATE * 1.02);
    expect(rate).toBeLessThanOrEqual(RATE * 2 ** ((HOUR + 600) / (24 * HOUR)) + 0.001);
  });

  it("are limited from the first second on if the zone's policy sets the limit", () => {
    const guard = world();
    guard.detector.setZonePolicies([zonePolicy({ zone: WILD, rate: 40, burst: 80 })], guard.nowMs);
    expect(guard.run(honest(10))).toBeLessThanOrEqual(10 * 40 + 80);
    expect(zoneOf(guard)).toMatchObject({ detectedBy: 'zone_rate' });
  });

  it('let a flood pass to overloaded servers only for the learning time of traffic', () => {
    const guard = world();
    guard.overload();
    const modes = ['monitoring', 'disabled', 'enabled'] as const;
    let freeSeconds = 0;
    for (let second = 0; second < 2 * LEARN_MINUTES * MINUTE; second++) {
      guard.setMode(modes[Math.floor(second / 100) % 3] ?? 'enabled');
      if (second % 170 === 0) guard.restart();
      // Pulses: no queries in every third second.
      const perSecond = second % 3 === 0 ? 0 : 600;
      const isFree = zoneOf(guard)?.awaitsRate === true;
      if (isFree && perSecond > 0) freeSeconds++;
      guard.run(flood(1, perSecond));
      // While a flood teaches this zone its rate, unknown names of other zones stay limited.
      if (isFree) expect(guard.detector.bucketSize().ratePerSecond).toBeLessThanOrEqual(100);
    }
    expect(freeSeconds).toBe(LEARN_MINUTES * MINUTE);
    guard.setMode('enabled');
    expect(guard.run(flood(10))).toBeLessThanOrEqual(15 * 605);
  });

  it('pass over TCP while the zone has no baseline', () => {
    const guard = world();
    const client = { address: '192.0.2.7', client: '192.0.2.7' };
    let refused = 0;
    for (let n = 0; n < 1000; n++)
      if (guard.detector.overTcp.decide(tenants(n).question, client, guard.nowMs) !== PAID_ZONE_RATE)
        refused++;
    expect(refused).toBe(0);
  });
});

describe('a zone whose legitimate queries are mostly for nonexistent names', () => {
  const RATE_OF_LISTS = 200;

  function listed(percent: number, zone: string) {
    const names = Array.from({ length: 199 }, (_, n) => `${n + 1}.${zone}`);
    const ask = mixed(percent, namesOf(names, records), newNames(zone, nxdomain));
    const honest = (seconds: number) => ({ seconds, perSecond: RATE_OF_LISTS, ask });
    const lossOf = (guard: HonestWorld, seconds: number) =>
      seconds * RATE_OF_LISTS - guard.run(honest(seconds));
    return { seeds: { [zone]: names }, honest, lossOf };
  }

  it.each([
    { percent: 85, zone: 'bl.test', mode: 'enabled', seeded: true },
    { percent: 85, zone: 'bl.test', mode: 'enabled', seeded: false },
    { percent: 85, zone: 'bl.test', mode: 'monitoring', seeded: true },
    { percent: 85, zone: 'bl.test', mode: 'disabled', seeded: true },
    { percent: 95, zone: 'bl.test', mode: 'enabled', seeded: true },
  ] as const)(
    'loses no queries after 15 minutes: $percent % in $zone, mode $mode, seeded: $seeded',
    (given) => {
      const { percent, zone, mode, seeded } = given;
      const { seeds, honest, lossOf } = listed(percent, zone);
      const guard = new HonestWorld({ rule: { mode }, detector, ...(seeded && { seeds }) });
      guard.detector.zones.add(zone);
      guard.run(honest(10 * MINUTE));
      guard.setMode('enabled');
      guard.run(honest(5 * MINUTE));
      expect(lossOf(guard, 3 * MINUTE)).toBe(0);
      guard.restart();
      expect(lossOf(guard, MINUTE)).toBe(0);
      expect(guard.detector.attack).toBe(false);
      // A flood is still detected.
      guard.run({ seconds: 3, perSecond: 3000, ask: newNames(zone, nxdomain, 'f') });
      expect(guard.detector.zones.get(zone)?.attacked(guard.nowMs)).toBe(true);
    },
  );

  it('recovers from baselines that an earlier version capped at 0.5', () => {
    const { seeds, honest, lossOf } = listed(85, 'bl.test');
    const guard = new HonestWorld({ detector, seeds });
    const week = { learnedSeconds: 7 * 24 * HOUR, ratePerSecond: 200, unknownPerSecond: 40 };
    const shares = { unknownShare: 0.5, nxdomainShare: 0.5, unknownPeakPerSecond: 60 };
    guard.restart((learned) => withZone(learned, 'bl.test', { ...week, ...shares }));
    guard.run(honest(30 * MINUTE));
    expect(lossOf(guard, 3 * MINUTE)).toBe(0);
    expect(guard.detector.attack).toBe(false);
  });
});

const withZone = (learned: Learned, name: string, changed: Partial<Learned['zones'][number]>): Learned => ({
  ...learned,
  zones: learned.zones.map((zone) => {
    if (zone.name !== name) return zone;
    const { unknownBusyPerSecond: _, ...older } = { ...zone, ...changed };
    return older;
  }),
});
