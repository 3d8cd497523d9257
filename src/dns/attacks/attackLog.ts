/**
 * Which attacks there are, from second to second. An attack that pauses is one attack, and a day has room for so many: ten
 * thousand short ones make neither ten thousand records nor as many lines of log. docs/dns-protection.md has the numbers.
 */
import { type AttackDetector, type SampleBatch, samplesIn, type Zone } from '../detector/index.ts';
import { questionOfWire } from '../protocol/index.ts';
import { type Attack, ruleMet } from './attack.ts';
import { OpenAttack } from './openAttack.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** An attack is over when its zone was not attacked for so long: what comes back before goes on. */
export const HOLD_MS = 5 * MINUTE_MS;
/** Zones that have an attack of their own at once; those beyond are together in one. */
export const MAX_OPEN = 16;
/** Attacks that may begin within 24 hours; those beyond are together in one, too, */
export const MAX_A_DAY = 100;
/** which goes on for longer: there are at most 24 of these a day. */
const TOGETHER_HOLD_MS = 60 * MINUTE_MS;

export interface AttackEvent {
  readonly kind: 'started' | 'changed' | 'ended';
  readonly attack: Attack;
}

export interface AttackLogOptions {
  /** What an earlier run left unfinished, and when those of the last day began. */
  readonly open?: readonly Attack[];
  readonly begun?: readonly number[];
}

export interface AttackLogDependencies {
  readonly detector: AttackDetector;
  readonly newId: () => string;
  readonly random?: () => number;
}

export class AttackLog {
  readonly #detector: AttackDetector;
  readonly #newId: () => string;
  readonly #random: () => number;
  readonly #open = new Map<string, OpenAttack>();
  /** The attack of each zone that has one; the same one for those that are together. */
  readonly #byZone = new Map<Zone, OpenAttack>();
  #together: OpenAttack | undefined;
  #begun: number[];

  constructor({ open = [], begun = [] }: AttackLogOptions, dependencies: AttackLogDependencies) {
    this.#detector = dependencies.detector;
    this.#newId = dependencies.newId;
    this.#random = dependencies.random ?? Math.random;
    this.#begun = [...begun];
    for (const stored of open) this.#restore(stored);
  }

  /** How the attacks stand that have not ended. */
  open(): Attack[] {
    return [...this.#open.values()].map((attack) => attack.told());
  }

  get(id: string): Attack | undefined {
    return this.#open.get(id)?.told();
  }

  /** Call it every second, when the detector has looked after its zones. Tells what began, changed or ended. */
  tick(nowMs: number, samples: readonly SampleBatch[]): AttackEvent[] {
    const detector = this.#detector;
    const started = new Set<OpenAttack>();
    const changed = new Set<OpenAttack>();
    if (!detector.attack && this.#open.size === 0) return [];
    for (const zone of detector.zones.all()) this.#look(zone, nowMs, { started, changed });
    for (const batch of samples) this.#sample(batch);
    const rule = ruleMet(detector.rule);
    for (const attack of this.#open.values()) {
      if (attack.endSecond()) {
        attack.noteChange({ kind: 'peak', queries_per_second: attack.peakQueries }, nowMs);
        changed.add(attack);
      }
      if (JSON.stringify(attack.rule) === JSON.stringify(rule)) continue;
      attack.rule = rule;
      if (started.has(attack)) continue;
      attack.noteChange({ kind: 'rule', rule }, nowMs);
      changed.add(attack);
    }
    return [
      ...[...started].map((attack) => ({ kind: 'started' as const, attack: attack.told() })),
      ...[...changed]
        .filter((attack) => !started.has(attack))
        .map((attack) => ({ kind: 'changed' as const, attack: attack.told() })),
      ...this.#end(nowMs),
    ];
  }

  #look(
    zone: Zone,
    nowMs: number,
    { started, changed }: Record<'started' | 'changed', Set<OpenAttack>>,
  ): void {
    let attack = this.#byZone.get(zone);
    if (attack === undefined) {
      if (!zone.noticed(nowMs)) return;
      const before = this.#open.size;
      attack = this.#attackFor(zone, nowMs);
      this.#byZone.set(zone, attack);
      if (this.#open.size > before) started.add(attack);
      else if (!attack.hasZone(zone.name)) {
        attack.noteChange({ kind: 'zone', zone: zone.name }, nowMs);
        changed.add(attack);
      }
      attack.addZone(zone.name);
    }
    attack.addCounts(zone, nowMs);
  }

  /** One that an earlier run left, a new one, or the one that is for all that there is no room for. */
  #attackFor(zone: Zone, nowMs: number): OpenAttack {
    for (const attack of this.#open.values()) if (attack.hasZone(zone.name)) return attack;
    this.#begun = this.#begun.filter((beganMs) => beganMs > nowMs - DAY_MS);
    const own = this.#open.size - (this.#together === undefined ? 0 : 1);
    const hasRoom = own < MAX_OPEN && this.#begun.length < MAX_A_DAY;
    if (!hasRoom && this.#together !== undefined) return this.#together;
    const { noticedBy } = zone;
    const attack = new OpenAttack({ id: this.#newId(), noticedBy, startedMs: nowMs }, this.#random);
    this.#open.set(attack.id, attack);
    if (hasRoom) this.#begun.push(nowMs);
    else this.#together = attack;
    return attack;
  }

  #sample(batch: SampleBatch): void {
    const detector = this.#detector;
    for (const query of samplesIn(batch)) {
      const question = questionOfWire(query.name, query.type, detector.key);
      const zone = detector.zones.find(question);
      this.#byZone.get(zone)?.addSample(query, { question, zone, detector });
    }
  }

  #end(nowMs: number): AttackEvent[] {
    const ended: AttackEvent[] = [];
    for (const attack of this.#open.values()) {
      // A clock that was set back does not make it last until then.
      attack.lastSeenMs = Math.min(attack.lastSeenMs, nowMs);
      const holdMs = attack === this.#together ? TOGETHER_HOLD_MS : HOLD_MS;
      if (nowMs - attack.lastSeenMs < holdMs) continue;
      this.#open.delete(attack.id);
      if (attack === this.#together) this.#together = undefined;
      for (const [zone, other] of this.#byZone) if (other === attack) this.#byZone.delete(zone);
      ended.push({ kind: 'ended', attack: attack.told(attack.lastSeenMs) });
    }
    return ended;
  }

  #restore(stored: Attack): void {
    const start = { id: stored.id, noticedBy: stored.noticed_by, startedMs: Date.parse(stored.started_on) };
    const attack = new OpenAttack(start, this.#random, stored);
    attack.noteChange({ kind: 'restart' }, attack.lastSeenMs);
    this.#open.set(attack.id, attack);
    // Only the one of many zones has more than one.
    if (stored.zone_count > 1) this.#together = attack;
  }
}
