import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DnsdistRules } from '../../../../test/dns/support/dnsdistRules.ts';
import { zonePolicy } from '../../../../test/dns/support/zonePolicy.ts';
import { exampleRule, type Rule, type ZonePolicy } from '../../../rules/index.ts';
import { AttackDetector, ZoneSeed } from '../../detector/index.ts';
import { nameToWire, QueryType, questionOf, typeBit } from '../../protocol/index.ts';
import { compileRules } from './compileRules.ts';
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

const KEY = { high: 1, low: 2 };
const ACCOUNT = { unknownPerSecond: 1000, accountUnknownPerSecond: 5000, ratePerSecond: 1, burst: 1 };
/** Traffic of the learning time: queries per second in each minute. */
const LEARNED = Array.from({ length: 240 }, (_, n) => [NOW / 60_000 - 240 + n, 1] as const);
const PLACES = ['test', 'a.test', 'b.test', 'a.a.test', 'b.a.test', 'a.b.test', 'a.a.a.test', 'b.a.a.test'];

const zoneName = fc.constantFrom(...PLACES.slice(0, -1));
const sensitivity = fc.constantFrom('low', 'medium', 'high', 'very_high');
const zones = fc.uniqueArray(
  fc.record({
    name: zoneName,
    isSeeded: fc.boolean(),
    isExpected: fc.boolean(),
    anyNameExists: fc.boolean(),
    isAttacked: fc.boolean(),
    learnedSeconds: fc.constantFrom(0, 90_000),
  }),
  { maxLength: 6, selector: ({ name }) => name },
);
const policies = fc.uniqueArray(
  fc.record({
    zone: zoneName,
    mode: fc.constantFrom('enabled', 'monitoring', 'disabled', 'inherit'),
    judge_by: fc.constantFrom('auto', 'rate', 'names'),
    rate: fc.constantFrom(null, 5),
    profile_sensitivity: fc.option(sensitivity),
    only_when_upstream_unhealthy: fc.boolean(),
  }),
  { maxLength: 3, selector: ({ zone }) => zone },
);

it('dnsdist limits the same names as the embedded guard, in zones within each other', () => {
  const all = { zones, policies, sensitivity, isOutsideAttacked: fc.boolean(), areHealthy: fc.boolean() };
  fc.assert(
    fc.property(fc.record(all), ({ zones, policies, sensitivity, isOutsideAttacked, areHealthy }) => {
      const options = { thresholds: ACCOUNT, profile: { maxNames: 1000 } };
      const detector = new AttackDetector(KEY, options, NOW);
      detector.history.restore(LEARNED);
      detector.setRule({ ...RULE, profile_sensitivity: sensitivity }, NOW);
      for (const { name, isSeeded, isExpected, anyNameExists, learnedSeconds } of zones) {
        const zone = detector.zones.add(name);
        if (zone === undefined) throw new Error(`no slot for ${name}`);
        if (isExpected) detector.expectSeed(name);
        if (isSeeded) {
          const seed = new ZoneSeed({ zone: name }, { detector });
          seed.add(nameToWire(`listed.${name}`), 'A');
          seed.finish();
        }
        if (anyNameExists) zone.markBoundless(name);
        zone.usual.learnedSeconds = learnedSeconds;
      }
      for (const place of PLACES)
        detector.profile.readmit(questionOf(`learned.${place}`, QueryType.A, KEY), typeBit(QueryType.A));
      detector.setZonePolicies(policies.map(zonePolicy), NOW);
      detector.setUpstreamsHealthy(areHealthy, NOW);
      detector.tick(NOW);
      for (const { name, isAttacked } of zones) if (isAttacked) detector.zones.get(name)?.markAttacked(NOW);
      if (isOutsideAttacked) detector.zones.outside.markAttacked(NOW);
      expect(limitedByDnsdist(detector)).toEqual(limitedByEmbedded(detector));
    }),
  );
});

const asked = PLACES.flatMap((place) =>
  ['listed', 'learned', 'random'].flatMap((label) =>
    [QueryType.A, QueryType.TXT].map((type) => ({ name: `${label}.${place}`, type })),
  ),
);

/** Returns the queries that the embedded guard limits if all token buckets are empty. */
function limitedByEmbedded(detector: AttackDetector): unknown[] {
  return asked.filter(({ name, type }) => {
    const question = questionOf(name, type, KEY);
    const zone = detector.zones.find(question);
    const reason = detector.reasonToPay(question, zone, NOW);
    if (reason === 'none' || (reason === 'zoneRate' && zone.awaitsRate)) return false;
    return detector.mayDrop(zone, reason, NOW);
  });
}

function limitedByDnsdist(detector: AttackDetector): unknown[] {
  const { profile, zones } = detector;
  const placeOf = (name: string): number => {
    const { hashHigh, hashLow } = questionOf(name, QueryType.A, KEY);
    return profile.find(hashHigh, hashLow);
  };
  const places = asked.map(({ name }) => placeOf(name)).filter((place) => place >= 0);
  const state = dnsdistStateOf(
    detector,
    {
      typeCombinations: [...new Set(places.map((place) => profile.types(place)))],
      busyNames: [],
      unseededZones: zones
        .all()
        .filter(({ awaitsNames }) => awaitsNames)
        .map(({ name }) => name),
    },
    NOW,
  );
  // The limits of clients and of the first second of an attack do not depend on the name.
  const data = compileRules({ ...state, clientRatePerSecond: 0, alarm: { zones: [], perSecond: 0 } });
  return asked.filter(({ name, type }) => {
    const place = placeOf(name);
    const rules = new DnsdistRules();
    rules.install(data);
    const query = {
      name,
      type,
      client: '192.0.2.1',
      count: 1_000_000,
      knownTypes: place < 0 ? undefined : profile.types(place).toString(16).padStart(4, '0'),
      isLearned: place >= 0 && profile.isLearned(place),
      isKnownNetwork: false,
    };
    const [outcomes] = rules.decide([query], { startMs: NOW, seconds: 1 });
    return (outcomes?.forwarded ?? 0) < query.count;
  });
}
