import { describe, expect, it } from 'vitest';
import type { Rule } from '../../rules/index.ts';
import {
  AttackDetector,
  FIRST_LIMITED,
  FIRST_NOT_FORWARDED,
  LimitedSamples,
  UserEnd,
} from '../detector/index.ts';
import { nameToWire, queryPacket, questionOf, questionOfWire, typeBit } from '../protocol/index.ts';
import { type AttackEvent, AttackLog, HOLD_MS, MAX_OPEN, MAX_PER_DAY } from './attackLog.ts';

const KEY = { high: 0x1234, low: 0x5678 };
const NOW = Date.UTC(2026, 10, 21, 3);
const SECOND_MS = 1000;
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
const KNOWN = 20;

/** A detector with seeded zones, and its attack log, advanced second by second. */
class Guarded {
  readonly detector = new AttackDetector(KEY, {}, NOW - SECOND_MS);
  readonly samples = new LimitedSamples();
  readonly events: AttackEvent[] = [];
  log: AttackLog;
  nowMs = NOW;
  #ids = 0;
  #randoms = 0;

  constructor(zones: readonly string[], rule: Rule | undefined = RULE) {
    for (const name of zones) {
      const zone = this.detector.zones.add(name);
      for (let n = 0; n < KNOWN; n++) {
        this.detector.profile.seed(questionOf(`h${n}.${name}`, 1, KEY), typeBit(1));
      }
      if (zone !== undefined) this.detector.noteSeeded(zone);
    }
    this.detector.setRule(rule, NOW);
    this.log = this.newLog();
  }

  newLog(options: ConstructorParameters<typeof AttackLog>[0] = {}): AttackLog {
    return new AttackLog(options, { detector: this.detector, newId: () => `id-${this.#ids++}` });
  }

  /** One second in which each zone gets `random` random names and one query for each known name. */
  second(zones: readonly string[], random = 1500): AttackEvent[] {
    for (const zone of zones) {
      for (let n = 0; n < random; n++) this.#ask(`x${(this.#randoms++).toString(36)}q.${zone}`, false);
      for (let n = 0; n < KNOWN; n++) this.#ask(`h${n}.${zone}`, true);
    }
    return this.pass(SECOND_MS);
  }

  /** Restores a threshold that was learned from traffic by an earlier run. */
  rests(): void {
    const rates = [[Math.floor(this.nowMs / 60_000) - 1, 20]] as const;
    this.detector.restore({ ...this.detector.learned(this.nowMs), rates }, this.nowMs);
  }

  /** One second of queries for known names of one zone only. */
  known(zone: string, queries: number, client?: string): AttackEvent[] {
    for (let n = 0; n < queries; n++) this.#ask(`h${n % KNOWN}.${zone}`, true, client);
    return this.pass(SECOND_MS);
  }

  /** Advances the clock without any query. */
  pass(ms: number): AttackEvent[] {
    this.nowMs += ms;
    this.detector.tick(this.nowMs);
    const batch = this.samples.take();
    const events = this.log.tick(this.nowMs, batch === undefined ? [] : [batch]);
    this.events.push(...events);
    return events;
  }

  #ask(name: string, isKnown: boolean, client?: string): void {
    const wire = nameToWire(name);
    const question = questionOfWire(wire, 1, KEY);
    const verdict = this.detector.decide(question, this.nowMs, client);
    if (verdict >= FIRST_LIMITED) {
      const packet = queryPacket(wire, 1);
      this.samples.note(packet, packet.length, '198.51.100.9');
    }
    this.detector.countUser(
      this.detector.userZone,
      verdict < FIRST_NOT_FORWARDED ? UserEnd.answered : UserEnd.limited,
    );
    if (verdict < FIRST_LIMITED)
      this.detector.learn(question, { kind: isKnown ? 0 : 3, network: 1 }, this.nowMs);
  }
}

const kinds = (events: readonly AttackEvent[]): string[] => events.map(({ kind }) => kind);
const of = (guarded: Guarded, kind: AttackEvent['kind']) =>
  guarded.events.filter((event) => event.kind === kind).map(({ attack }) => attack);

describe('attack log', () => {
  it('reports zones, start, criterion, rates, limited queries and users of an attack', () => {
    const guarded = new Guarded(['example.test', 'other.test']);
    expect(guarded.second(['example.test'], 20)).toEqual([]);
    const [started] = guarded.second(['example.test']);
    expect(started).toMatchObject({
      kind: 'started',
      attack: {
        state: 'active',
        zones: ['example.test'],
        detected_by: 'unknown_share',
        rule: { id: RULE.id, mode: 'enabled' },
        now: { queries: 1520, unknown_names: 1500 },
      },
    });
    for (let second = 0; second < 4; second++) guarded.second(['example.test', 'other.test'].slice(0, 1));
    const [attack] = guarded.log.open();
    if (attack === undefined) throw new Error('no active attack');
    expect(attack.queries).toBe(5 * 1520);
    expect(attack.unknown_names).toBe(5 * 1500);
    // Every query that the bucket did not let pass, from the detection of the attack on.
    expect(attack.limited).toBeGreaterThan(5500);
    expect(attack.limited_share).toBeGreaterThan(0.7);
    expect(attack.would_drop).toBe(0);
    expect(attack.known_names).toEqual({ asked: 5 * KNOWN, answered: 5 * KNOWN, limited: 0, would_drop: 0 });
    expect(attack.response_codes['NOERROR']).toBeGreaterThanOrEqual(4 * KNOWN);
    expect(attack.top.names[0]?.value).toMatch(/^\[0-9a-z\]\{\d-\d\}\.example\.test$/);
    expect(attack.top.types).toMatchObject([{ value: 'A' }]);
    expect(attack.top.networks).toMatchObject([{ value: '198.51.100.0/24' }]);
    expect(attack.top.weight).toBeGreaterThan(5500);
    expect(attack.sampled_names).toHaveLength(20);
    expect(attack.peak.limited).toBeGreaterThan(1300);
  });

  it('reports attacks under monitoring, and changes of the rule during an attack', () => {
    const guarded = new Guarded(['example.test'], { ...RULE, mode: 'monitoring' });
    guarded.second(['example.test']);
    guarded.second(['example.test']);
    expect(guarded.log.open()).toMatchObject([{ limited: 0, rule: { mode: 'monitoring' } }]);
    expect(guarded.log.open()[0]?.would_drop).toBeGreaterThan(1000);
    guarded.detector.setRule(RULE, guarded.nowMs);
    expect(kinds(guarded.second(['example.test']))).toEqual(['changed']);
    guarded.detector.setRule(undefined, guarded.nowMs);
    expect(kinds(guarded.second(['example.test']))).toEqual(['changed']);
    const [attack] = guarded.log.open();
    expect(attack?.rule).toBeUndefined();
    expect(attack?.changes).toMatchObject([{ kind: 'rule', rule: { mode: 'enabled' } }, { kind: 'rule' }]);
  });

  it('counts each query by the mode in which it was decided when the mode changes', () => {
    const guarded = new Guarded(['example.test'], { ...RULE, mode: 'monitoring' });
    for (let second = 0; second < 3; second++) guarded.second(['example.test']);
    const [watched] = guarded.log.open();
    expect(watched?.now).toMatchObject({ limited: 0, would_drop: watched?.peak.would_drop });
    expect(watched?.now.would_drop).toBeGreaterThan(1000);
    guarded.detector.setRule(RULE, guarded.nowMs);
    for (let second = 0; second < 2; second++) guarded.second(['example.test']);
    const [enabled] = guarded.log.open();
    expect(enabled?.now).toMatchObject({ limited: enabled?.peak.limited, would_drop: 0 });
    expect(enabled?.now.limited).toBeGreaterThan(1000);
    expect(enabled?.would_drop).toBe(watched?.would_drop);
    expect(enabled?.peak.would_drop).toBe(watched?.peak.would_drop);
    guarded.detector.setRule({ ...RULE, mode: 'monitoring' }, guarded.nowMs);
    guarded.second(['example.test']);
    const [again] = guarded.log.open();
    expect(again?.now.limited).toBe(0);
    expect(again?.limited).toBe(enabled?.limited);
    expect(again?.would_drop).toBeGreaterThan(enabled?.would_drop ?? 0);
  });

  it('counts queries of users in the second in which they ended, including pending ones', () => {
    const guarded = new Guarded(['example.test']);
    guarded.second(['example.test']);
    const zone = guarded.detector.zones.get('example.test')?.number ?? 0;
    const before = guarded.log.open()[0]?.known_names.asked ?? 0;
    const www = questionOf('h1.example.test', 1, KEY);
    for (let n = 0; n < 10; n++) guarded.detector.decide(www, guarded.nowMs);
    expect(guarded.detector.userZone).toBe(zone + 1);
    guarded.pass(SECOND_MS);
    expect(guarded.log.open()[0]?.known_names.asked).toBe(before);
    for (let n = 0; n < 7; n++) guarded.detector.countUser(zone + 1, UserEnd.answered);
    for (let n = 0; n < 3; n++) guarded.detector.countUser(zone + 1, UserEnd.unanswered);
    guarded.detector.countUser(0, UserEnd.unanswered);
    guarded.pass(SECOND_MS);
    expect(guarded.log.open()[0]?.known_names).toMatchObject({ asked: before + 10, answered: before + 7 });
    guarded.detector.decide(questionOf('nobody.example.test', 1, KEY), guarded.nowMs);
    expect(guarded.detector.userZone).toBe(0);
  });

  it('reports limited queries for known names, but not a single client that is sent to TCP', () => {
    const strict = { ...RULE, profile_sensitivity: 'very_high' } as const;
    for (const [rule, isFounded, client, noticed] of [
      [strict, true, undefined, ['known_limited']],
      [{ ...strict, mode: 'monitoring' }, true, undefined, ['known_limited']],
      // Nothing is dropped before a threshold is learned from traffic.
      [strict, false, undefined, []],
      // Queries for these names stay within their usual rate.
      [RULE, true, '198.51.100.9', []],
    ] as const) {
      const guarded = new Guarded(['example.test'], rule);
      if (isFounded) guarded.rests();
      for (let second = 0; second < 3; second++) guarded.known('example.test', 5_000, client);
      const unpaid = guarded.detector.verdicts.slice(FIRST_LIMITED).reduce((sum, count) => sum + count);
      expect(unpaid).toBeGreaterThan(5_000);
      expect(
        guarded.log.open().map(({ detected_by }) => detected_by),
        `${rule.profile_sensitivity} ${rule.mode}`,
      ).toEqual(noticed);
      const [attack] = guarded.log.open();
      if (attack === undefined) continue;
      expect(attack.unknown_names).toBe(0);
      const { limited, would_drop } = attack;
      expect(attack.known_names).toMatchObject({ limited, would_drop });
      expect(rule.mode === 'enabled' ? limited : would_drop).toBeGreaterThan(5_000);
      expect(rule.mode === 'enabled' ? would_drop : limited).toBe(0);
      expect(attack.top.weight).toBeGreaterThan(5_000);
      guarded.known('example.test', 90);
      for (let second = 0; second < 31; second++) guarded.known('example.test', 90);
      expect(guarded.detector.attack).toBe(false);
    }
  });

  it('ends an attack at the time it was last seen, after the hold time without an attack', () => {
    const guarded = new Guarded(['example.test']);
    guarded.second(['example.test']);
    for (let second = 0; second < 60; second++) guarded.pass(SECOND_MS);
    expect(of(guarded, 'ended')).toEqual([]);
    guarded.pass(HOLD_MS);
    const [ended] = of(guarded, 'ended');
    expect(ended).toMatchObject({ state: 'ended', now: { queries: 0 } });
    // The detector keeps an attack active for 30 s.
    expect(Date.parse(ended?.ended_on ?? '') - NOW).toBeLessThan(35_000);
    expect(guarded.log.open()).toEqual([]);
    guarded.pass(SECOND_MS);
    guarded.second(['example.test']);
    expect(of(guarded, 'started')).toHaveLength(2);
  });

  it('does not end an attack before its start if the clock was set back', () => {
    const guarded = new Guarded(['example.test']);
    guarded.second(['example.test']);
    guarded.pass(-86_400_000);
    for (let second = 0; second < 60; second++) guarded.pass(SECOND_MS);
    guarded.pass(HOLD_MS);
    const [ended] = of(guarded, 'ended');
    expect(ended?.started_on).toMatch(/^\d{4}-/);
    expect(ended).toMatchObject({ last_seen_on: ended?.started_on, ended_on: ended?.started_on });
  });

  it('continues an attack with its counts after a restart', () => {
    const guarded = new Guarded(['example.test']);
    guarded.second(['example.test']);
    const [before] = guarded.log.open();
    if (before === undefined) throw new Error('no active attack');
    guarded.log = guarded.newLog({ open: [structuredClone(before)], startTimes: [NOW] });
    expect(kinds(guarded.second(['example.test']))).toEqual([]);
    const [after] = guarded.log.open();
    expect(after).toMatchObject({
      id: before.id,
      queries: 2 * before.queries,
      changes: [{ kind: 'restart' }],
    });
    expect(after?.top.weight).toBeGreaterThan(before.top.weight);
    // An attack that ended while the guard was down ends at the time it was last seen.
    const other = new Guarded(['example.test']);
    other.log = other.newLog({ open: [before] });
    expect(other.pass(10 * HOLD_MS)).toMatchObject([
      { kind: 'ended', attack: { ended_on: before.last_seen_on } },
    ]);
  });
});

describe('bounds on the number of attacks', () => {
  it('a zone that flaps has one attack', () => {
    const guarded = new Guarded(['example.test']);
    for (let burst = 0; burst < 40; burst++) {
      guarded.second(['example.test'], 150);
      guarded.pass(35 * SECOND_MS);
    }
    expect(of(guarded, 'started')).toHaveLength(1);
    expect(guarded.log.open()).toHaveLength(1);
  });

  it('attacks above the daily maximum share one joint attack', () => {
    const guarded = new Guarded(['example.test']);
    for (let attack = 0; attack < 3 * MAX_PER_DAY; attack++) {
      guarded.second(['example.test'], 150);
      guarded.pass(31 * SECOND_MS);
      guarded.pass(HOLD_MS);
    }
    // 300 attacks in 27 hours: 100 of the first day, one joint attack for the rest of it, and those of the second day.
    expect(of(guarded, 'started').length).toBeLessThanOrEqual(2 * MAX_PER_DAY + 24);
    expect(guarded.log.open().length).toBeLessThanOrEqual(1);
  });

  it('attacks on many zones at once are MAX_OPEN separate ones and one joint attack', () => {
    const zones = Array.from({ length: 150 }, (_, n) => `z${n}.test`);
    const guarded = new Guarded(zones);
    guarded.second(zones, 210);
    const attacks = guarded.log.open();
    expect(attacks).toHaveLength(MAX_OPEN + 1);
    const together = attacks.find(({ zone_count }) => zone_count > 1);
    expect(together).toMatchObject({ zone_count: 150 - MAX_OPEN });
    expect(together?.zones).toHaveLength(100);
    expect(together?.changes.length).toBeLessThanOrEqual(50);
    expect(attacks.reduce((sum, { queries }) => sum + queries, 0)).toBe(150 * (210 + KNOWN));
    expect(kinds(guarded.events)).toEqual(Array(MAX_OPEN + 1).fill('started'));
  });
});
