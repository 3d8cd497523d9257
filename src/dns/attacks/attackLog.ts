/**
 * Tracks attacks from second to second. An attack that pauses and resumes counts as one attack. The number of attacks
 * per day is limited, so that ten thousand short attacks do not cause ten thousand records and log lines. See
 * docs/reference/dns-attacks.md.
 */
import { type AttackDetector, type SampleBatch, samplesIn, type Zone } from '../detector/index.ts';
import { questionOfWire } from '../protocol/index.ts';
import { type Attack, attackRuleOf } from './attack.ts';
import { OpenAttack } from './openAttack.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** An attack ends if its zone was not attacked for this time. A flood that resumes earlier belongs to the attack. */
export const HOLD_MS = 5 * MINUTE_MS;
/** Maximum number of active attacks with one zone each. All further attacked zones are added to one joint attack. */
export const MAX_OPEN = 16;
/** Maximum number of new attacks within 24 hours. All further attacked zones are added to the joint attack. */
export const MAX_PER_DAY = 100;
/** The joint attack ends if its zones were not attacked for this time, so there are at most 24 of them per day. */
const JOINT_HOLD_MS = 60 * MINUTE_MS;

export interface AttackEvent {
  readonly kind: 'started' | 'changed' | 'ended';
  readonly attack: Attack;
}

export interface AttackLogOptions {
  /** Attacks that were active before a restart. */
  readonly open?: readonly Attack[];
  /** Start times of all attacks of the last 24 hours. */
  readonly startTimes?: readonly number[];
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
  /** Active attack by attacked zone. Several zones can have the joint attack. */
  readonly #byZone = new Map<Zone, OpenAttack>();
  #jointAttack: OpenAttack | undefined;
  #startTimes: number[];

  constructor({ open = [], startTimes = [] }: AttackLogOptions, dependencies: AttackLogDependencies) {
    this.#detector = dependencies.detector;
    this.#newId = dependencies.newId;
    this.#random = dependencies.random ?? Math.random;
    this.#startTimes = [...startTimes];
    for (const stored of open) this.#restore(stored);
  }

  open(): Attack[] {
    return [...this.#open.values()].map((attack) => attack.toAttack());
  }

  get(id: string): Attack | undefined {
    return this.#open.get(id)?.toAttack();
  }

  /** Returns the attacks that started, changed or ended. Call every second, after the detector's tick. */
  tick(nowMs: number, samples: readonly SampleBatch[]): AttackEvent[] {
    const detector = this.#detector;
    const started = new Set<OpenAttack>();
    const changed = new Set<OpenAttack>();
    if (!detector.attack && this.#open.size === 0) return [];
    for (const zone of detector.zones.all()) this.#updateZone(zone, nowMs, { started, changed });
    for (const batch of samples) this.#sample(batch);
    const rule = attackRuleOf(detector.rule);
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
      ...[...started].map((attack) => ({ kind: 'started' as const, attack: attack.toAttack() })),
      ...[...changed]
        .filter((attack) => !started.has(attack))
        .map((attack) => ({ kind: 'changed' as const, attack: attack.toAttack() })),
      ...this.#end(nowMs),
    ];
  }

  #updateZone(
    zone: Zone,
    nowMs: number,
    { started, changed }: Record<'started' | 'changed', Set<OpenAttack>>,
  ): void {
    let attack = this.#byZone.get(zone);
    if (attack === undefined) {
      if (!zone.isReported(nowMs)) return;
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

  /**
   * Returns the attack to which an attacked zone is added: an active attack that already has the zone, a new attack,
   * or the joint attack if the maximum number of attacks is reached.
   */
  #attackFor(zone: Zone, nowMs: number): OpenAttack {
    for (const attack of this.#open.values()) if (attack.hasZone(zone.name)) return attack;
    this.#startTimes = this.#startTimes.filter((beganMs) => beganMs > nowMs - DAY_MS);
    const own = this.#open.size - (this.#jointAttack === undefined ? 0 : 1);
    const hasRoom = own < MAX_OPEN && this.#startTimes.length < MAX_PER_DAY;
    if (!hasRoom && this.#jointAttack !== undefined) return this.#jointAttack;
    const { detectedBy } = zone;
    const attack = new OpenAttack({ id: this.#newId(), detectedBy, startedMs: nowMs }, this.#random);
    this.#open.set(attack.id, attack);
    if (hasRoom) this.#startTimes.push(nowMs);
    else this.#jointAttack = attack;
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
      // If the clock was set back, `lastSeenMs` is in the future, which would delay the end of the attack.
      attack.lastSeenMs = Math.min(attack.lastSeenMs, nowMs);
      const holdMs = attack === this.#jointAttack ? JOINT_HOLD_MS : HOLD_MS;
      if (nowMs - attack.lastSeenMs < holdMs) continue;
      this.#open.delete(attack.id);
      if (attack === this.#jointAttack) this.#jointAttack = undefined;
      for (const [zone, other] of this.#byZone) if (other === attack) this.#byZone.delete(zone);
      ended.push({ kind: 'ended', attack: attack.toAttack('ended') });
    }
    return ended;
  }

  #restore(stored: Attack): void {
    const start = { id: stored.id, detectedBy: stored.detected_by, startedMs: Date.parse(stored.started_on) };
    const attack = new OpenAttack(start, this.#random, stored);
    attack.noteChange({ kind: 'restart' }, attack.lastSeenMs);
    this.#open.set(attack.id, attack);
    // Only the joint attack can have several zones.
    if (stored.zone_count > 1) this.#jointAttack = attack;
  }
}
