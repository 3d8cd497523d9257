import { describe, expect, it } from 'vitest';
import type { Rule } from '../../rules/index.ts';
import { AttackDetector, FIRST_UNPAID, RefusedSamples } from '../detector/index.ts';
import { nameToWire, queryPacket, questionOf, questionOfWire, typeBit } from '../protocol/index.ts';
import { type AttackEvent, AttackLog, HOLD_MS, MAX_A_DAY, MAX_OPEN } from './attackLog.ts';

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

/** A detector that knows zones by their files, and the log of its attacks, second by second. */
class Guarded {
  readonly detector = new AttackDetector(KEY, {}, NOW - SECOND_MS);
  readonly samples = new RefusedSamples();
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

  /** A second in which so many random names are asked for in each zone, and every known one. */
  second(zones: readonly string[], random = 1500): AttackEvent[] {
    for (const zone of zones) {
      for (let n = 0; n < random; n++) this.#ask(`x${(this.#randoms++).toString(36)}q.${zone}`, false);
      for (let n = 0; n < KNOWN; n++) this.#ask(`h${n}.${zone}`, true);
    }
    return this.pass(SECOND_MS);
  }

  /** A threshold that rests on traffic, of an earlier run. */
  rests(): void {
    const rates = [[Math.floor(this.nowMs / 60_000) - 1, 20]] as const;
    this.detector.restore({ ...this.detector.learned(this.nowMs), rates }, this.nowMs);
  }

  /** A second in which a zone's known names alone are asked for, this often in all. */
  known(zone: string, queries: number, client?: string): AttackEvent[] {
    for (let n = 0; n < queries; n++) this.#ask(`h${n % KNOWN}.${zone}`, true, client);
    return this.pass(SECOND_MS);
  }

  /** Nothing is asked for so long. */
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
    if (verdict >= FIRST_UNPAID) {
      const packet = queryPacket(wire, 1);
      if (this.detector.samplesRefusals) this.samples.note(packet, packet.length, '198.51.100.9');
    } else this.detector.learn(question, { kind: isKnown ? 0 : 3, network: 1 }, this.nowMs);
  }
}

const kinds = (events: readonly AttackEvent[]): string[] => events.map(({ kind }) => kind);
const of = (guarded: Guarded, kind: AttackEvent['kind']) =>
  guarded.events.filter((event) => event.kind === kind).map(({ attack }) => attack);

describe('what is known of an attack', () => {
  it('is where, since when, by what, how large, what was refused, and that users are unharmed', () => {
    const guarded = new Guarded(['example.test', 'other.test']);
    expect(guarded.second(['example.test'], 20)).toEqual([]);
    const [started] = guarded.second(['example.test']);
    expect(started).toMatchObject({
      kind: 'started',
      attack: {
        state: 'active',
        zones: ['example.test'],
        noticed_by: 'unknown_share',
        rule: { id: RULE.id, mode: 'enabled' },
        now: { queries: 1520, unknown_names: 1500 },
      },
    });
    for (let second = 0; second < 4; second++) guarded.second(['example.test', 'other.test'].slice(0, 1));
    const [attack] = guarded.log.open();
    if (attack === undefined) throw new Error('the attack lasts');
    expect(attack.queries).toBe(5 * 1520);
    expect(attack.unknown_names).toBe(5 * 1500);
    // All that the bucket did not let pass, from the query on at which the attack was noticed.
    expect(attack.refused).toBeGreaterThan(5500);
    expect(attack.refused_share).toBeGreaterThan(0.7);
    expect(attack.would_refuse).toBe(0);
    expect(attack.known_names.asked).toBe(5 * KNOWN);
    expect(attack.known_names.refused).toBe(0);
    expect(attack.known_names.answered).toBeGreaterThanOrEqual(4 * KNOWN);
    expect(attack.response_codes).toMatchObject({ NOERROR: attack.known_names.answered });
    expect(attack.top.names[0]?.value).toMatch(/^\[0-9a-z\]\{\d-\d\}\.example\.test$/);
    expect(attack.top.types).toMatchObject([{ value: 'A' }]);
    expect(attack.top.networks).toMatchObject([{ value: '198.51.100.0/24' }]);
    expect(attack.top.weight).toBeGreaterThan(5500);
    expect(attack.sampled_names).toHaveLength(20);
    expect(attack.peak.refused).toBeGreaterThan(1300);
  });

  it('is also told of a rule that only watches, of a changed one, and without any', () => {
    const guarded = new Guarded(['example.test'], { ...RULE, mode: 'monitoring' });
    guarded.second(['example.test']);
    guarded.second(['example.test']);
    expect(guarded.log.open()).toMatchObject([{ refused: 0, rule: { mode: 'monitoring' } }]);
    expect(guarded.log.open()[0]?.would_refuse).toBeGreaterThan(1000);
    guarded.detector.setRule(RULE, guarded.nowMs);
    expect(kinds(guarded.second(['example.test']))).toEqual(['changed']);
    guarded.detector.setRule(undefined, guarded.nowMs);
    expect(kinds(guarded.second(['example.test']))).toEqual(['changed']);
    const [attack] = guarded.log.open();
    expect(attack?.rule).toBeUndefined();
    expect(attack?.changes).toMatchObject([{ kind: 'rule', rule: { mode: 'enabled' } }, { kind: 'rule' }]);
  });

  it('is also told where known names are refused, and of none where one client is sent to TCP', () => {
    const strict = { ...RULE, profile_sensitivity: 'very_high' } as const;
    for (const [rule, isFounded, client, noticed] of [
      [strict, true, undefined, ['known_refused']],
      [{ ...strict, mode: 'monitoring' }, true, undefined, ['known_refused']],
      // Without a threshold that rests on traffic nothing of it is refused.
      [strict, false, undefined, []],
      // Its names are asked for no more than is usual.
      [RULE, true, '198.51.100.9', []],
    ] as const) {
      const guarded = new Guarded(['example.test'], rule);
      if (isFounded) guarded.rests();
      for (let second = 0; second < 3; second++) guarded.known('example.test', 5_000, client);
      const unpaid = guarded.detector.verdicts.slice(FIRST_UNPAID).reduce((sum, count) => sum + count);
      expect(unpaid).toBeGreaterThan(5_000);
      expect(
        guarded.log.open().map(({ noticed_by }) => noticed_by),
        `${rule.profile_sensitivity} ${rule.mode}`,
      ).toEqual(noticed);
      const [attack] = guarded.log.open();
      if (attack === undefined) continue;
      expect(attack.unknown_names).toBe(0);
      expect(attack.known_names.refused).toBe(attack.refused + attack.would_refuse);
      expect(attack.known_names.refused).toBeGreaterThan(5_000);
      expect(attack.top.weight).toBeGreaterThan(5_000);
      guarded.known('example.test', 90);
      for (let second = 0; second < 31; second++) guarded.known('example.test', 90);
      expect(guarded.detector.attack).toBe(false);
    }
  });

  it('ends with its last moment, once nothing was attacked for a while', () => {
    const guarded = new Guarded(['example.test']);
    guarded.second(['example.test']);
    for (let second = 0; second < 60; second++) guarded.pass(SECOND_MS);
    expect(of(guarded, 'ended')).toEqual([]);
    guarded.pass(HOLD_MS);
    const [ended] = of(guarded, 'ended');
    expect(ended).toMatchObject({ state: 'ended', now: { queries: 0 } });
    // The detector holds an attack for 30 s.
    expect(Date.parse(ended?.ended_on ?? '') - NOW).toBeLessThan(35_000);
    expect(guarded.log.open()).toEqual([]);
    guarded.pass(SECOND_MS);
    guarded.second(['example.test']);
    expect(of(guarded, 'started')).toHaveLength(2);
  });

  it('goes on as the same one after a restart, with all that was counted', () => {
    const guarded = new Guarded(['example.test']);
    guarded.second(['example.test']);
    const [before] = guarded.log.open();
    if (before === undefined) throw new Error('the attack lasts');
    guarded.log = guarded.newLog({ open: [structuredClone(before)], begun: [NOW] });
    expect(kinds(guarded.second(['example.test']))).toEqual([]);
    const [after] = guarded.log.open();
    expect(after).toMatchObject({
      id: before.id,
      queries: 2 * before.queries,
      changes: [{ kind: 'restart' }],
    });
    expect(after?.top.weight).toBeGreaterThan(before.top.weight);
    // One that was over when the guard came back has ended when it was seen last.
    const other = new Guarded(['example.test']);
    other.log = other.newLog({ open: [before] });
    expect(other.pass(10 * HOLD_MS)).toMatchObject([
      { kind: 'ended', attack: { ended_on: before.last_seen_on } },
    ]);
  });
});

describe('attacks without end', () => {
  it('of one zone that flaps are few', () => {
    const guarded = new Guarded(['example.test']);
    for (let burst = 0; burst < 40; burst++) {
      guarded.second(['example.test'], 150);
      guarded.pass(35 * SECOND_MS);
    }
    expect(of(guarded, 'started')).toHaveLength(1);
    expect(guarded.log.open()).toHaveLength(1);
  });

  it('one after the other have room in a day, and then are told together', () => {
    const guarded = new Guarded(['example.test']);
    for (let attack = 0; attack < 3 * MAX_A_DAY; attack++) {
      guarded.second(['example.test'], 150);
      guarded.pass(31 * SECOND_MS);
      guarded.pass(HOLD_MS);
    }
    // 300 in 27 hours: a hundred, one for what came until the day was over, and those of the second day.
    expect(of(guarded, 'started').length).toBeLessThanOrEqual(2 * MAX_A_DAY + 24);
    expect(guarded.log.open().length).toBeLessThanOrEqual(1);
  });

  it('of many zones at once are some of their own and one for the others', () => {
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
