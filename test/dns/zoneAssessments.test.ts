/** Assessments of zones, from simulated traffic: what they count, what they propose, and that they can be discarded. */
import { describe, expect, it } from 'vitest';
import { FIRST_LIMITED, levelOf, type ZoneAssessment } from '../../src/dns/detector/index.ts';
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

const ZONE = 'example.com';
const LEVEL = levelOf('medium', 'medium');
const names = Array.from({ length: 50 }, (_, n) => `host${n}.${ZONE}`);
const seeds = { [ZONE]: names };
const known = namesOf(names, records);
const fresh = newNames(ZONE, nxdomain);

const assessmentOf = ({ detector, nowMs }: HonestWorld, name = ZONE): ZoneAssessment => {
  const found = detector.assessments(nowMs).find(({ zone }) => zone.name === name);
  if (found === undefined) throw new Error(`${name} is not assessed`);
  return found;
};
const shareOf = (world: HonestWorld, level = LEVEL): number => {
  const { day } = assessmentOf(world);
  return (day.limited[level] ?? 0) / day.queries;
};
/** Returns the number of queries that the guard itself limited or would have dropped. */
const limitedBy = ({ detector }: HonestWorld): number =>
  detector.verdicts.reduce((sum, count, verdict) => sum + (verdict >= FIRST_LIMITED ? count : 0), 0);

/** A server with so low a threshold that 60 unknown names per second are too many. */
const LOW = { ratePerSecond: 20, burst: 100, unknownPerSecond: 1000, accountUnknownPerSecond: 5000 };
const busy = (options: WorldOptions = {}) =>
  new HonestWorld({ seeds, detector: { thresholds: LOW, learnForMinutes: 1 }, ...options });
const sixty = (seconds: number) => ({ seconds, perSecond: 100, ask: mixed(60, known, fresh) });

describe('an hour of ordinary traffic', () => {
  it('makes a zone safe to enable, and not earlier', () => {
    const world = new HonestWorld({ seeds, rule: { mode: 'monitoring' } });
    const honest = (seconds: number) => ({ seconds, perSecond: 50, ask: mixed(10, known, fresh) });
    world.run(honest(HOUR - 2 * MINUTE));
    expect(assessmentOf(world).assessment).toBe('still_learning');
    world.run(honest(3 * MINUTE));
    expect(assessmentOf(world)).toMatchObject({ assessment: 'safe_to_enable', proposed: undefined });
  });
});

describe('traffic above the limit', () => {
  it.each(['monitoring', 'disabled'] as const)(
    'is counted under a rule in mode %s as an enabled one limits it',
    (mode) => {
      const enabled = busy();
      enabled.run(sixty(10 * MINUTE));
      const world = busy({ rule: { mode } });
      world.run(sixty(10 * MINUTE));
      const counted = assessmentOf(world).day.limited[LEVEL] ?? 0;
      expect(counted / limitedBy(enabled)).toBeGreaterThan(0.97);
      expect(counted / limitedBy(enabled)).toBeLessThan(1.03);
    },
  );

  it('is counted without a rule, and at every sensitivity', () => {
    const world = busy();
    world.detector.setRule(undefined, world.nowMs);
    world.run(sixty(5 * MINUTE));
    const low = shareOf(world, levelOf('low', 'medium'));
    const rates = (['low', 'medium', 'high'] as const).map((rate) => shareOf(world, levelOf('medium', rate)));
    expect(low).toBe(0);
    expect(rates[0]).toBeGreaterThan(0.15);
    expect(rates[1]).toBeGreaterThan((rates[0] ?? 0) + 0.15);
    expect(rates[2]).toBeGreaterThan((rates[1] ?? 0) + 0.05);
  });

  it('is divided among the zones that share a bucket by their demand', () => {
    const other = 'example.net';
    const world = busy({ seeds: { ...seeds, [other]: [`www.${other}`] } });
    const both = mixed(25, newNames(ZONE, nxdomain), newNames(other, nxdomain));
    world.run({ seconds: 5 * MINUTE, perSecond: 80, ask: both });
    const limited = [ZONE, other].map((zone) => assessmentOf(world, zone).day.limited[LEVEL] ?? 0);
    expect((limited[0] ?? 0) / (limited[1] ?? 1)).toBeCloseTo(3, 0);
  });

  it('needs a rate, and passes under a policy with the proposed one', () => {
    const world = busy();
    world.run(sixty(HOUR + MINUTE));
    const { assessment, proposed } = assessmentOf(world);
    expect(assessment).toBe('needs_rate');
    expect(proposed).toEqual({ rate: 180, burst: 1500 });
    const policy = zonePolicy({ zone: ZONE, judge_by: 'rate', ...proposed });
    world.detector.setZonePolicies([policy], world.nowMs);
    expect(world.run(sixty(5 * MINUTE))).toBe(5 * MINUTE * 100);
  });

  it('is counted for unknown types at high, and for names above their usual rate at very_high', () => {
    const world = busy();
    const types = namesOf(names, nxdomain, 99);
    world.run({ seconds: MINUTE, perSecond: 90, ask: types });
    expect(shareOf(world, levelOf('medium', 'medium'))).toBe(0);
    expect(shareOf(world, levelOf('high', 'medium'))).toBeGreaterThan(0.7);
    const single = busy();
    single.run({ seconds: MINUTE, perSecond: 100, ask: namesOf([names[0] ?? ''], records) });
    expect(shareOf(single, levelOf('high', 'medium'))).toBe(0);
    expect(shareOf(single, levelOf('very_high', 'medium'))).toBeGreaterThan(0.05);
  });
});

describe('an attack', () => {
  it('is why a zone would be limited, and an hour later the zone is safe to enable again', () => {
    const world = new HonestWorld({ seeds, rule: { mode: 'monitoring' } });
    const honest = { seconds: HOUR, perSecond: 30, ask: known };
    world.run({ ...honest, seconds: HOUR + MINUTE });
    world.run({ seconds: 30, perSecond: 3000, ask: newNames(ZONE, nxdomain, 'f') });
    expect(assessmentOf(world).assessment).toBe('under_attack');
    world.run({ ...honest, seconds: HOUR + MINUTE });
    expect(assessmentOf(world).assessment).toBe('safe_to_enable');
  });

  it('explains what was limited while the servers were overloaded', () => {
    const world = busy();
    world.run(sixty(HOUR + MINUTE));
    expect(assessmentOf(world).assessment).toBe('needs_rate');
    const overloaded = busy();
    overloaded.overload();
    overloaded.run(sixty(HOUR + MINUTE));
    expect(assessmentOf(overloaded).assessment).toBe('under_attack');
  });
});

describe('a zone judged by rate', () => {
  it('is counted as its own bucket limits it', () => {
    const wild = `wild.${ZONE}`;
    const world = new HonestWorld({
      seeds: { [ZONE]: [...names, `*.${wild}`] },
      detector: { learnForMinutes: 1 },
    });
    world.overload();
    world.run({ seconds: 11 * MINUTE, perSecond: 150, ask: newNames(wild, records) });
    world.run({ seconds: MINUTE, perSecond: 600, ask: newNames(wild, records, 'x') });
    const counted = assessmentOf(world, wild).day.limited[LEVEL] ?? 0;
    expect(counted / limitedBy(world)).toBeGreaterThan(0.97);
    expect(counted / limitedBy(world)).toBeLessThan(1.03);
  });

  it('is also limited by the ceiling of all such zones', () => {
    const zones = Array.from({ length: 20 }, (_, n) => `z${n}.test`);
    const world = new HonestWorld({ detector: { learnForMinutes: 0 } });
    const policies = zones.map((zone) => zonePolicy({ zone, judge_by: 'rate' }));
    world.detector.setZonePolicies(policies, world.nowMs);
    world.overload();
    const asks = zones.map((zone) => newNames(zone, records));
    const ask = (n: number) => (asks[n % zones.length] ?? fresh)(n);
    world.run({ seconds: MINUTE, perSecond: 2000, ask });
    const limited = zones.map((zone) => assessmentOf(world, zone).day.limited[LEVEL] ?? 0);
    const counted = limited.reduce((sum, count) => sum + count, 0);
    // Each zone alone may receive 100/s, which is what it receives.
    expect(counted).toBeGreaterThan(MINUTE * 2000 * 0.4);
    expect(counted / limitedBy(world)).toBeGreaterThan(0.95);
    expect(counted / limitedBy(world)).toBeLessThan(1.05);
  });

  it('whose policy sets the rate is counted as the bucket of the policy limits it', () => {
    const world = new HonestWorld({ seeds, detector: { learnForMinutes: 1 } });
    const policy = zonePolicy({ zone: ZONE, judge_by: 'rate', rate: 50, burst: 100 });
    world.detector.setZonePolicies([policy], world.nowMs);
    world.run(sixty(5 * MINUTE));
    const counted = assessmentOf(world).day.limited[LEVEL] ?? 0;
    expect(counted / limitedBy(world)).toBeGreaterThan(0.97);
    expect(counted / limitedBy(world)).toBeLessThan(1.03);
  });
});

it('At most 256 zones are assessed, those with the most queries', () => {
  const world = new HonestWorld();
  const zones = Array.from({ length: 300 }, (_, n) => `z${n}.test`);
  for (const zone of zones) world.detector.zones.add(zone);
  const all = namesOf(
    zones.map((zone) => `www.${zone}`),
    records,
  );
  const busiest = namesOf(
    zones.slice(100).map((zone) => `www.${zone}`),
    records,
  );
  world.run({ seconds: 5, perSecond: 300, ask: all });
  world.run({ seconds: 3 * MINUTE, perSecond: 200, ask: busiest });
  const assessed = world.detector.assessments(world.nowMs).map(({ zone }) => zone.name);
  expect(assessed).toHaveLength(256);
  expect(assessed).toEqual(expect.arrayContaining(zones.slice(100)));
});

describe('forgetting a zone', () => {
  const below = `below.${ZONE}`;
  const deeper = `deeper.${ZONE}`;
  const other = 'example.net';
  const hosts = (zone: string) => Array.from({ length: 10 }, (_, n) => `learned${n}.${zone}`);
  function learned(): HonestWorld {
    const world = new HonestWorld({ seeds });
    for (const zone of [below, deeper, other]) world.detector.zones.add(zone);
    const policies = [zonePolicy({ zone: ZONE }), zonePolicy({ zone: deeper, comment: 'deeper' })];
    world.detector.setZonePolicies(policies, world.nowMs);
    const all = [ZONE, below, deeper, other].flatMap(hosts);
    world.run({ seconds: 20 * MINUTE, perSecond: 40, ask: mixed(20, namesOf(all, records), fresh) });
    return world;
  }
  const isKnown = ({ detector }: HonestWorld, name: string) => {
    const { hashHigh, hashLow } = namesOf([name], records)(0).question;
    return detector.profile.find(hashHigh, hashLow) >= 0;
  };

  it('discards its learned names and rates, and those of zones below that the same policy covers', () => {
    const world = learned();
    for (const zone of [ZONE, below, deeper, other]) expect(isKnown(world, `learned0.${zone}`)).toBe(true);
    world.detector.forget(ZONE, world.nowMs);
    for (const zone of [ZONE, below]) {
      expect(hosts(zone).filter((name) => isKnown(world, name))).toEqual([]);
      expect(world.detector.zones.get(zone)?.usual.learnedSeconds).toBe(0);
      expect(() => assessmentOf(world, zone)).toThrow('not assessed');
    }
    for (const zone of [deeper, other]) {
      expect(hosts(zone).filter((name) => !isKnown(world, name))).toEqual([]);
      expect(world.detector.zones.get(zone)?.usual.learnedSeconds).toBeGreaterThan(600);
      expect(assessmentOf(world, zone).day.queries).toBeGreaterThan(0);
    }
    expect(names.filter((name) => !isKnown(world, name))).toEqual([]);
    world.run({ seconds: 2 * MINUTE, perSecond: 40, ask: namesOf(hosts(below), records) });
    expect(isKnown(world, `learned0.${below}`)).toBe(true);
  });

  it('changes no other zone if the zone is not known', () => {
    const world = learned();
    const { size } = world.detector.profile;
    world.detector.forget('unknown.test.', world.nowMs);
    expect(world.detector.profile.size).toBe(size);
  });
});
