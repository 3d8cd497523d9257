import { describe, expect, it } from 'vitest';
import { zonePolicy } from '../../../../test/dns/support/zonePolicy.ts';
import type { ZonePolicy } from '../../../rules/index.ts';
import { AnswerKind } from '../../protocol/index.ts';
import { SharedZone, ZONE_BYTES } from './sharedZone.ts';
import { Zone } from './zone.ts';

const NOW = Date.UTC(2026, 10, 21);
const SECOND_MS = 1000;
const LIMITS = { unknownPerSecond: 10_000, learnForSeconds: 4 * 3600 };
const DAY_SECONDS = 24 * 3600;
const INITIAL = { unknownShare: 0.2, unknownPerSecond: 0, unknownPeakPerSecond: 50, unknownBusyPerSecond: 0 };

const POLICY = zonePolicy({ zone: 'example.test' });

const zoneOf = (name = 'example.test', policy?: ZonePolicy): Zone =>
  new Zone(name, {
    number: 1,
    shared: new SharedZone(new SharedArrayBuffer(ZONE_BYTES), 0),
    limits: LIMITS,
    policy,
  });

/** Returns a seeded zone whose rule is enabled. */
function seeded(): Zone {
  const zone = zoneOf();
  zone.shared.setPolicy({ mode: 'enabled', level: 1, onlyWhenUnhealthy: false, payer: undefined });
  zone.noteSeeded();
  zone.tick(NOW, { isRelaxed: true });
  return zone;
}

it('an attack on a zone does not last longer if the clock was set back', () => {
  const zone = seeded();
  zone.markAttacked(NOW);
  const earlierMs = NOW - DAY_SECONDS * SECOND_MS;
  zone.tick(earlierMs, { isRelaxed: true });
  expect(zone.attacked(earlierMs)).toBe(true);
  const laterMs = earlierMs + 60 * SECOND_MS;
  zone.tick(laterMs, { isRelaxed: true });
  expect([zone.attacked(laterMs), zone.isReported(laterMs)]).toEqual([false, false]);
});

interface Traffic {
  readonly seconds?: number;
  readonly known?: number;
  readonly unknown?: number;
  /** Number of answers per second for unknown names, by kind. */
  readonly answers?: Readonly<Record<number, number>>;
  readonly startMs?: number;
  readonly isRelaxed?: boolean;
}

/** Runs traffic, and returns the time after it and the result of the last tick. */
function run(zone: Zone, traffic: Traffic) {
  const { seconds = 1, known = 0, unknown = 0, answers = {}, startMs = NOW, isRelaxed = true } = traffic;
  let nowMs = startMs;
  for (let second = 0; second < seconds; second++) {
    for (let i = 0; i < known + unknown; i++) zone.shared.count(i >= known);
    for (const [kind, count] of Object.entries(answers))
      for (let i = 0; i < count; i++) zone.noteAnswer(Number(kind), false, zone.attacked(nowMs));
    nowMs += SECOND_MS;
    zone.tick(nowMs, { isRelaxed });
  }
  return nowMs;
}

describe('seeding', () => {
  it('discards the unknown names that were counted before it, because they may exist', () => {
    const zone = zoneOf();
    run(zone, { seconds: 300, known: 10, unknown: 40 });
    expect(zone.usual.unknownShare).toBeGreaterThan(0.5);
    expect(zone.usual.unknownBusyPerSecond).toBeGreaterThan(0);
    zone.shared.count(true);
    zone.noteSeeded();
    expect(zone.usual.unknownNames()).toEqual(INITIAL);
    expect(zone.shared.unknown).toBe(0);
  });

  it('a second time keeps what was learned since the first', () => {
    const zone = seeded();
    run(zone, { seconds: 300, known: 10, unknown: 40 });
    const { unknownShare } = zone.usual;
    zone.noteSeeded();
    expect(zone.usual.unknownShare).toBe(unknownShare);
    expect(unknownShare).toBeGreaterThan(0.5);
  });

  it('returns to the stored baseline of unknown names, unless the zone was not seeded when it was stored', () => {
    for (const isSeeded of [true, false]) {
      const before = zoneOf();
      before.usual.unknownShare = 0.4;
      const stored = { ...before.learned(), seeded: isSeeded };
      const zone = zoneOf();
      zone.restore(stored);
      run(zone, { seconds: 300, known: 0, unknown: 40 });
      zone.noteSeeded();
      expect(zone.usual.unknownShare).toBe(isSeeded ? 0.4 : 0.2);
    }
  });

  it('is awaited until the names are known, or the zone was observed for the learning time', () => {
    const zone = zoneOf();
    expect(zone.awaitsNames).toBe(false);
    zone.awaitNames();
    expect(zone.awaitsNames).toBe(true);
    zone.noteSeeded();
    expect(zone.awaitsNames).toBe(false);
    const unseeded = zoneOf();
    unseeded.awaitNames();
    unseeded.usual.learnedSeconds = LIMITS.learnForSeconds;
    unseeded.tick(NOW, { isRelaxed: true });
    expect(unseeded.awaitsNames).toBe(false);
  });

  it('replaces the mark that a zone above it set, but not its own', () => {
    const zone = zoneOf();
    expect(zone.markBoundless('test')).toBe(true);
    expect(zone.anyNameExists).toBe(true);
    zone.awaitNames();
    expect(zone.anyNameExists).toBe(false);
    expect(zone.markBoundless('test')).toBe(false);
    expect(zone.markBoundless('example.test')).toBe(true);
    zone.noteSeeded();
    expect(zone.anyNameExists).toBe(true);
  });
});

describe('a zone is judged by query rate', () => {
  it.each<[string, Zone, (zone: Zone) => void]>([
    ['if every name exists', zoneOf(), (zone) => zone.markBoundless('example.test')],
    ['if it lists addresses', zoneOf(), (zone) => (zone.seed.listsAddresses = true)],
    ['if its seed is incomplete', zoneOf(), (zone) => zone.setIncomplete(true)],
    ['if its policy says so', zoneOf(), (zone) => (zone.policy = { ...POLICY, judge_by: 'rate' })],
    ['if its names are reversed addresses', zoneOf('2.0.192.in-addr.arpa'), () => {}],
    ['if its names are reversed IPv6 addresses', zoneOf('8.b.d.0.1.0.0.2.ip6.arpa'), () => {}],
  ])('%s', (_, zone, change) => {
    change(zone);
    expect(zone.byRate).toBe(true);
    expect(zone.alarmPerSecond).toBeUndefined();
    zone.policy = { ...POLICY, judge_by: 'names' };
    expect(zone.byRate).toBe(false);
  });

  it('only for these reasons', () => {
    expect([zoneOf().byRate, zoneOf('arpa.test').byRate, zoneOf('notin-addr.arpa').byRate]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('after ten minutes in which most positive answers are for new names', () => {
    const zone = zoneOf();
    const note = (count: number, isFirst: boolean): void => {
      for (let i = 0; i < count; i++) zone.notePositive(isFirst);
    };
    note(501, true);
    note(499, false);
    run(zone, { seconds: 599, known: 1 });
    expect(zone.byRate).toBe(false);
    run(zone, { known: 1, startMs: NOW + 599 * SECOND_MS });
    expect(zone.byRate).toBe(true);
  });

  it('and then lets every query pass until its rate is known', () => {
    const zone = zoneOf('2.0.192.in-addr.arpa');
    expect(zone.awaitsRate).toBe(true);
    zone.policy = { ...POLICY, rate: 100 };
    expect(zone.awaitsRate).toBe(false);
    zone.policy = undefined;
    zone.usual.learnedSeconds = LIMITS.learnForSeconds;
    expect(zone.awaitsRate).toBe(true);
    zone.tick(NOW, { isRelaxed: false });
    expect(zone.awaitsRate).toBe(false);
    zone.tick(NOW + SECOND_MS, { isRelaxed: true });
    zone.usual.learnedSeconds = DAY_SECONDS;
    expect(zone.awaitsRate).toBe(false);
    expect(zoneOf().awaitsRate).toBe(false);
  });
});

describe('an attack', () => {
  it('by rate begins at 100 unknown names per second that are half of the queries', () => {
    for (const [traffic, isAttack] of [
      [{ known: 100, unknown: 100 }, true],
      [{ known: 99, unknown: 99 }, false],
      [{ known: 101, unknown: 100 }, false],
    ] as const) {
      const zone = seeded();
      const nowMs = run(zone, traffic);
      expect(zone.attacked(nowMs)).toBe(isAttack);
      if (isAttack) expect([zone.detectedBy, zone.attackedSinceMs]).toEqual(['unknown_share', nowMs]);
    }
  });

  it('is not found by NXDOMAIN answers for known names, such as an alias whose target was removed', () => {
    for (const isKnown of [true, false]) {
      const zone = seeded();
      for (let i = 0; i < 500; i++) {
        zone.shared.count(!isKnown);
        zone.noteAnswer(AnswerKind.nxdomain, isKnown, false);
      }
      zone.tick(NOW + SECOND_MS, { isRelaxed: true });
      expect(zone.attacked(NOW + SECOND_MS)).toBe(!isKnown);
    }
  });

  it('is found before the second ends, and not if the names are answered with records', () => {
    const zone = seeded();
    for (let i = 0; i < 200; i++) zone.shared.count(true);
    zone.shared.suspect(NOW);
    expect(zone.attacked(NOW)).toBe(true);
    for (let i = 0; i < 20; i++) zone.noteAnswer(AnswerKind.records, false, true);
    zone.evaluateEarly(NOW);
    expect(zone.attacked(NOW)).toBe(false);
    for (let i = 0; i < 20; i++) zone.noteAnswer(AnswerKind.nxdomain, false, true);
    zone.evaluateEarly(NOW);
    expect(zone.attacked(NOW)).toBe(true);
  });

  it('ends 30 seconds after its last sign, and keeps its start and its criterion', () => {
    const zone = seeded();
    zone.markAttacked(NOW, 'nxdomain_share');
    zone.markAttacked(NOW + 20_000, 'unknown_rate');
    expect([zone.attackedSinceMs, zone.detectedBy]).toEqual([NOW, 'nxdomain_share']);
    expect([zone.attacked(NOW + 49_999), zone.attacked(NOW + 50_000)]).toEqual([true, false]);
    zone.markAttacked(NOW + 50_000, 'unknown_rate');
    expect([zone.attackedSinceMs, zone.detectedBy]).toEqual([NOW + 50_000, 'unknown_rate']);
  });

  it('is only reported if the zone exceeds its rate, or loses 100 known queries per second', () => {
    const byRate = seeded();
    byRate.shared.countRefusedByRate();
    const known = seeded();
    for (let i = 0; i < 100; i++) known.shared.countBeyondUsual();
    const quiet = seeded();
    for (let i = 0; i < 99; i++) quiet.shared.countBeyondUsual();
    for (const [zone, criterion] of [
      [byRate, 'zone_rate'],
      [known, 'known_limited'],
      [quiet, undefined],
    ] as const) {
      const nowMs = run(zone, { known: 1 });
      expect([zone.isReported(nowMs), zone.attacked(nowMs)]).toEqual([criterion !== undefined, false]);
      if (criterion !== undefined) expect(zone.detectedBy).toBe(criterion);
      expect([zone.isReported(nowMs + 29_999), zone.isReported(nowMs + 30_000)]).toEqual([
        criterion !== undefined,
        false,
      ]);
    }
    expect([byRate.isLimitedByRate, known.isLimitedByRate]).toEqual([true, false]);
  });

  it('on all zones together marks zones whose names are known and whose unknown names are unusual', () => {
    const marked = (zone: Zone, unknownPerSecond: number): boolean => {
      zone.markAttackedWithAccount(unknownPerSecond, NOW);
      return zone.attacked(NOW);
    };
    expect(marked(seeded(), 1)).toBe(true);
    expect(marked(seeded(), 0.9)).toBe(false);
    expect(marked(zoneOf(), 1)).toBe(false);
    const usual = seeded();
    usual.usual.unknownPerSecond = 2;
    expect([marked(usual, 5.9), marked(usual, 6)]).toEqual([false, true]);
    const watched = zoneOf();
    watched.usual.learnedSeconds = LIMITS.learnForSeconds;
    expect(marked(watched, 1)).toBe(true);
    const byRate = seeded();
    byRate.markBoundless('example.test');
    expect(marked(byRate, 1000)).toBe(false);
  });

  it('at the number of unknown names that the policy sets', () => {
    const zone = seeded();
    zone.policy = { ...POLICY, unknown_per_second: 30 };
    expect(zone.alarmPerSecond).toBe(30);
    const nowMs = run(zone, { known: 1000, unknown: 30 });
    expect([zone.attacked(nowMs), zone.detectedBy]).toEqual([true, 'unknown_rate']);
  });
});

describe('the counts of a second', () => {
  it('are per second, also if the tick is late', () => {
    const zone = seeded();
    for (let i = 0; i < 90; i++) zone.shared.count(true);
    expect(zone.tick(NOW + 3 * SECOND_MS, { isRelaxed: true })).toMatchObject({
      usual: 90,
      passed: 90,
      unknown: 30,
    });
  });

  it('exclude limited queries from those that passed', () => {
    const zone = seeded();
    for (let i = 0; i < 10; i++) zone.shared.count(false);
    for (let i = 0; i < 4; i++) zone.shared.countRefusal(true, true);
    zone.shared.countRefusal(false, true);
    zone.shared.countRefusedCalm();
    const ticked = zone.tick(NOW + SECOND_MS, { isRelaxed: true });
    expect(ticked).toMatchObject({ passed: 6, refusedCalm: 1 });
    expect(zone.tick(NOW + 2 * SECOND_MS, { isRelaxed: true })).toMatchObject({ passed: 0 });
  });

  it('raise no threshold of the account by an attack or by traffic above a limit', () => {
    const attacked = seeded();
    for (let i = 0; i < 500; i++) attacked.shared.count(i < 400);
    expect(attacked.tick(NOW + SECOND_MS, { isRelaxed: true })).toMatchObject({ usual: 0, unknown: 0 });
    attacked.usual.busiest.all.perSecond = 60;
    for (let i = 0; i < 500; i++) attacked.shared.count(i < 400);
    expect(attacked.tick(NOW + 2 * SECOND_MS, { isRelaxed: true }).usual).toBe(60);

    const limited = seeded();
    limited.usual.busiest.all.perSecond = 300;
    for (let i = 0; i < 500; i++) limited.shared.count(false);
    limited.shared.countRefusedByRate();
    expect(limited.tick(NOW + SECOND_MS, { isRelaxed: true }).usual).toBe(300);
  });

  it('count as unknown for the account while only the account is under attack', () => {
    const zone = seeded();
    zone.markAttackedWithAccount(5, NOW);
    for (let i = 0; i < 50; i++) zone.shared.count(true);
    expect(zone.tick(NOW + SECOND_MS, { isRelaxed: true }).unknown).toBe(50);
    expect(zone.attacked(NOW + SECOND_MS)).toBe(true);
  });
});

describe('answers', () => {
  it('prove a name by records; by NODATA if NODATA proves or the name is known; truncated if it is known', () => {
    const zone = zoneOf();
    const { records, noData, truncated, nxdomain } = AnswerKind;
    const proofs = () =>
      [records, noData, truncated, nxdomain].map((kind) => [
        zone.proves(kind, false),
        zone.proves(kind, true),
      ]);
    expect(proofs()).toEqual([
      [true, true],
      [false, true],
      [false, true],
      [false, false],
    ]);
    for (let i = 0; i < 20; i++) zone.noteAnswer(nxdomain, false, false);
    expect(proofs()[1]).toEqual([true, true]);
  });

  it('for known names, or during an attack, do not show how the zone denies names', () => {
    const zone = zoneOf();
    for (let i = 0; i < 20; i++) {
      zone.noteAnswer(AnswerKind.nxdomain, true, false);
      zone.noteAnswer(AnswerKind.nxdomain, false, true);
    }
    expect([zone.denials.nxdomains, zone.nxdomains, zone.unknownAnswers]).toEqual([0, 20, 20]);
    zone.noteAnswer(AnswerKind.denial, false, true);
    expect([zone.denials.byNoData, zone.nxdomains]).toEqual([true, 21]);
  });

  it('NODATA counts for unknown names unless it proves them', () => {
    const zone = zoneOf();
    zone.noteAnswer(AnswerKind.noData, false, false);
    expect(zone.unknownAnswers).toBe(1);
    for (let i = 0; i < 20; i++) zone.noteAnswer(AnswerKind.nxdomain, false, false);
    zone.noteAnswer(AnswerKind.noData, false, false);
    expect([zone.unknownAnswers, zone.unknownPositives]).toEqual([21, 0]);
    zone.noteAnswer(AnswerKind.records, false, false);
    expect([zone.unknownAnswers, zone.unknownPositives]).toEqual([22, 1]);
  });

  it('for new names count as evidence against denials, repeated ones do not', () => {
    const zone = zoneOf();
    zone.notePositive(true);
    zone.notePositive(false);
    expect(zone.denials.positives).toBe(1);
  });

  it('are counted per second', () => {
    const zone = zoneOf();
    zone.noteAnswer(AnswerKind.records, false, false);
    zone.noteAnswer(AnswerKind.nxdomain, false, false);
    zone.tick(NOW, { isRelaxed: true });
    expect([zone.answers, zone.nxdomains, zone.unknownAnswers, zone.unknownPositives]).toEqual([0, 0, 0, 0]);
  });
});

describe('learning', () => {
  it('of rates stops during an attack that an enabled rule limits', () => {
    for (const mode of ['enabled', 'monitoring'] as const) {
      const zone = seeded();
      zone.shared.setPolicy({ mode, level: 1, onlyWhenUnhealthy: false, payer: undefined });
      const startMs = run(zone, { seconds: 10, known: 10 });
      expect(zone.usual.learnedSeconds).toBe(10);
      zone.markAttacked(startMs);
      run(zone, { seconds: 10, known: 10, startMs });
      expect(zone.usual.learnedSeconds).toBe(mode === 'enabled' ? 10 : 20);
    }
  });

  it('needs queries', () => {
    const zone = seeded();
    run(zone, { seconds: 10 });
    expect(zone.usual.learnedSeconds).toBe(0);
  });

  it('ignores unknown names of an attack above the configured limit', () => {
    const zone = seeded();
    run(zone, { seconds: 60, unknown: 10_000 });
    expect(zone.usual.unknownNames()).toEqual(INITIAL);
    const smaller = seeded();
    run(smaller, { seconds: 60, unknown: 1000 });
    expect(smaller.usual.unknownShare).toBeGreaterThan(INITIAL.unknownShare);
  });

  it('is stored and restored completely, and forgotten completely', () => {
    const zone = seeded();
    run(zone, { seconds: 700, known: 20, unknown: 5, answers: { [AnswerKind.nxdomain]: 1 } });
    for (let i = 0; i < 1500; i++) zone.notePositive(true);
    zone.tick(NOW + 800 * SECOND_MS, { isRelaxed: true });
    expect(zone.byRate).toBe(true);
    const stored = zone.learned();
    expect(stored).toMatchObject({
      seeded: true,
      learnedSeconds: 700,
      positiveAnswers: 1500,
      onceOnlyAnswers: 1500,
    });
    const restored = zoneOf();
    restored.restore(stored);
    expect(restored.byRate).toBe(true);
    expect(restored.previousRun).toMatchObject({ seeded: true });
    expect({ ...restored.learned(), seeded: true }).toEqual(stored);
    restored.forget();
    expect(restored.learned()).toEqual({ ...zoneOf().learned() });
    expect(restored.byRate).toBe(false);
  });
});
