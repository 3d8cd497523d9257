/** What the guard saw, rule by rule and minute by minute: for the analytics, the metrics and the terminal. */
import { type AttackDetector, VERDICTS } from '../detector/index.ts';

/** One minute of one rule. */
export interface MinuteRecord {
  /** The rule in force; empty for none. */
  readonly ruleId: string;
  /** Minutes since 1970. */
  readonly minute: number;
  /** Queries by verdict: its number and how many, without zeros. */
  readonly verdicts: readonly (readonly [verdict: number, queries: number])[];
  readonly profileNames: number;
  /** The bucket in force. */
  readonly ratePerSecond: number;
  readonly burst: number;
  /** Zones under attack at any time of the minute. */
  readonly attackedZones: readonly string[];
}

const MINUTE_MS = 60_000;
/** A minute that names more zones than these names the first of them: the record stays small. */
const MAX_ZONES_NAMED = 100;

/** Two records of the same rule and minute as one: a restart in the middle of a minute loses nothing. */
export function mergeMinutes(older: MinuteRecord, newer: MinuteRecord): MinuteRecord {
  const counts = new Map(older.verdicts);
  for (const [verdict, queries] of newer.verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + queries);
  const attackedZones = [...new Set([...older.attackedZones, ...newer.attackedZones])].slice(
    0,
    MAX_ZONES_NAMED,
  );
  return { ...newer, verdicts: [...counts], attackedZones };
}

export class QueryStats {
  /** Queries by verdict since the start, for each rule that was in force. */
  readonly totals = new Map<string, Float64Array>();
  readonly #detector: AttackDetector;
  readonly #verdicts: () => Float64Array;
  readonly #before = new Float64Array(VERDICTS);
  readonly #thisMinute = new Map<string, { counts: Float64Array; zones: Set<string> }>();
  #minute: number;

  /** `verdicts` are the counts so far, by the verdict's number; the detector's where left out. */
  constructor(detector: AttackDetector, nowMs: number, verdicts = () => detector.verdicts) {
    this.#detector = detector;
    this.#verdicts = verdicts;
    this.#minute = Math.floor(nowMs / MINUTE_MS);
  }

  /** Notes what was decided since the last call, for the rule in force; call it every second and before a rule changes. */
  note(nowMs: number): void {
    const ruleId = this.#detector.rule?.id ?? '';
    const minute = this.#of(ruleId);
    const total = this.totals.get(ruleId) ?? new Float64Array(VERDICTS);
    this.totals.set(ruleId, total);
    const counted = this.#verdicts();
    for (let verdict = 0; verdict < VERDICTS; verdict++) {
      const now = counted[verdict] ?? 0;
      const more = now - (this.#before[verdict] ?? 0);
      if (more === 0) continue;
      minute.counts[verdict] = (minute.counts[verdict] ?? 0) + more;
      total[verdict] = (total[verdict] ?? 0) + more;
      this.#before[verdict] = now;
    }
    for (const zone of this.#detector.zones.all())
      if (zone.noticed(nowMs) && minute.zones.size < MAX_ZONES_NAMED) minute.zones.add(zone.name);
  }

  /** Notes, and returns the records of the minute that is over; none while it lasts. */
  tick(nowMs: number): MinuteRecord[] {
    this.note(nowMs);
    return Math.floor(nowMs / MINUTE_MS) === this.#minute ? [] : this.flush(nowMs);
  }

  /** The records so far of the minute that lasts. */
  running(nowMs: number): MinuteRecord[] {
    this.note(nowMs);
    return [...this.#thisMinute].map(([ruleId, { counts, zones }]) => this.#record(ruleId, counts, zones));
  }

  /** As {@link running}; the minute begins anew. */
  flush(nowMs: number): MinuteRecord[] {
    const records = this.running(nowMs);
    this.#thisMinute.clear();
    this.#minute = Math.floor(nowMs / MINUTE_MS);
    return records;
  }

  #record(ruleId: string, counts: Float64Array, zones: ReadonlySet<string>): MinuteRecord {
    const verdicts = [...counts].flatMap((queries, verdict) =>
      queries > 0 ? [[verdict, queries] as const] : [],
    );
    const { ratePerSecond, burst } = this.#detector.bucketSize();
    const profileNames = this.#detector.profile.size;
    return {
      ruleId,
      minute: this.#minute,
      verdicts,
      profileNames,
      ratePerSecond,
      burst,
      attackedZones: [...zones],
    };
  }

  #of(ruleId: string): { counts: Float64Array; zones: Set<string> } {
    const found = this.#thisMinute.get(ruleId);
    if (found !== undefined) return found;
    const made = { counts: new Float64Array(VERDICTS), zones: new Set<string>() };
    this.#thisMinute.set(ruleId, made);
    return made;
  }
}
