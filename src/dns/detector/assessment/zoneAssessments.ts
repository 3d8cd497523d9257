/**
 * Counts every second how many queries of each zone would be limited at each sensitivity, whatever the mode of the
 * rule in force. Fluid buckets need only the counts of a second, not each query. Memory is bounded: only the busiest
 * zones are assessed.
 */
import type { ProfileSensitivity, Rule, Sensitivity } from '../../../rules/index.ts';
import type { Zone } from '../zones/zone.ts';
import { MAX_ZONES } from '../zones/zoneIndex.ts';
import { AssessedZone, type ZoneSecond } from './assessedZone.ts';
import {
  type AssessedSpans,
  type Assessment,
  assess,
  type ProposedRate,
  proposedRate,
} from './assessment.ts';
import { levelOf, perLevel } from './levels.ts';
import { type GuardSecond, Payments } from './payments.ts';

export const MAX_ASSESSED_ZONES = 256;
const MINUTE_MS = 60_000;
/** Weight of earlier queries when the busiest zones are selected. Their half-life is a day. */
const KEPT_BY_MINUTE = 0.5 ** (1 / 1440);

export interface ZoneAssessment extends AssessedSpans {
  readonly zone: Zone;
  readonly assessment: Assessment;
  /** Sensitivities in force in the zone, for which it is assessed. Without a rule: `medium`. */
  readonly profileSensitivity: ProfileSensitivity;
  readonly rateSensitivity: Sensitivity;
  /** Rate for a policy of the zone. Only if the assessment is `needs_rate`. */
  readonly proposed: ProposedRate | undefined;
}

export class ZoneAssessments {
  readonly #zones = new Map<Zone, AssessedZone>();
  /** Number of recent queries of each zone, by zone number. */
  readonly #recent = new Float64Array(MAX_ZONES + 1);
  readonly #payments = new Payments();
  #selectedMs = Number.NEGATIVE_INFINITY;

  /** Adds the counts of all zones with queries since the last tick. */
  add(counted: readonly ZoneSecond[], guard: GuardSecond): void {
    this.#select(counted, guard.nowMs);
    const limitedOf = this.#payments.limited(
      counted.map((second) => [second, this.#zones.get(second.zone)]),
      guard,
    );
    for (const [index, second] of counted.entries()) {
      const limited = limitedOf[index] ?? perLevel();
      this.#zones.get(second.zone)?.add(second, { ...guard, limited }, guard.nowMs);
    }
  }

  /** Returns the assessed zones, the busiest first. */
  list(rule: Rule | undefined, nowMs: number): ZoneAssessment[] {
    const recent = ({ number }: Zone) => this.#recent[number] ?? 0;
    return [...this.#zones]
      .sort(([one], [other]) => recent(other) - recent(one))
      .map(([zone, { history }]) => {
        const spans = history.spans(nowMs);
        const profileSensitivity = zone.policy?.profile_sensitivity ?? rule?.profile_sensitivity ?? 'medium';
        const rateSensitivity = zone.policy?.rate_sensitivity ?? rule?.rate_sensitivity ?? 'medium';
        const assessment = assess(spans, {
          level: levelOf(profileSensitivity, rateSensitivity),
          awaitsNames: zone.awaitsNames,
        });
        const proposed = assessment === 'needs_rate' ? proposedRate(spans.week) : undefined;
        return { zone, assessment, profileSensitivity, rateSensitivity, proposed, ...spans };
      });
  }

  isAssessed(zone: Zone): boolean {
    return this.#zones.has(zone);
  }

  forget(zone: Zone): void {
    this.#zones.delete(zone);
  }

  /** Selects the zones to assess: all, or the busiest ones if there are too many. */
  #select(counted: readonly ZoneSecond[], nowMs: number): void {
    for (const { zone, queries } of counted) {
      this.#recent[zone.number] = (this.#recent[zone.number] ?? 0) + queries;
      if (this.#zones.size < MAX_ASSESSED_ZONES && !this.#zones.has(zone))
        this.#zones.set(zone, new AssessedZone());
    }
    if (Math.abs(nowMs - this.#selectedMs) < MINUTE_MS) return;
    this.#selectedMs = nowMs;
    for (const [number, queries] of this.#recent.entries()) this.#recent[number] = queries * KEPT_BY_MINUTE;
    const busiest = [...new Set([...this.#zones.keys(), ...counted.map(({ zone }) => zone)])]
      .sort((one, other) => (this.#recent[other.number] ?? 0) - (this.#recent[one.number] ?? 0))
      .slice(0, MAX_ASSESSED_ZONES);
    const isBusy = new Set(busiest);
    for (const zone of this.#zones.keys()) if (!isBusy.has(zone)) this.#zones.delete(zone);
    for (const zone of busiest) if (!this.#zones.has(zone)) this.#zones.set(zone, new AssessedZone());
  }
}
