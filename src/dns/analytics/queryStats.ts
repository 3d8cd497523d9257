/** Counts queries by rule and minute, for analytics, metrics and the terminal view. */
import { type AttackDetector, type UserQueries, VERDICTS } from '../detector/index.ts';
import { NO_USERS, sumOfUsers, usersSince } from './userCounts.ts';

/** Query counts of one guard under one rule in one minute. */
export interface MinuteRecord {
  /** Id of the rule in force. Empty if no rule was in force. */
  readonly ruleId: string;
  /** Number of the minute, since 1970. */
  readonly minute: number;
  /** Numbers of queries by verdict. A verdict without queries is omitted. */
  readonly verdicts: readonly (readonly [verdict: number, queries: number])[];
  readonly profileNames: number;
  /** Rate and burst of the account's token bucket. */
  readonly ratePerSecond: number;
  readonly burst: number;
  /** Names of the zones that were under attack at any time in this minute. */
  readonly attackedZones: readonly string[];
  /** Users' queries (for known names) by outcome. Undefined in records that were written without it. */
  readonly users?: UserQueries;
  /** Last mode of the rule in this minute. Undefined without a rule. */
  readonly mode?: string;
}

const MINUTE_MS = 60_000;
/** Maximum number of attacked zones in a record, to keep records small. */
const MAX_ZONES_NAMED = 100;

/** Merges two records of the same rule and minute, so that no counts are lost if the guard restarts in a minute. */
export function mergeMinutes(older: MinuteRecord, newer: MinuteRecord): MinuteRecord {
  const counts = new Map(older.verdicts);
  for (const [verdict, queries] of newer.verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + queries);
  const attackedZones = [...new Set([...older.attackedZones, ...newer.attackedZones])].slice(
    0,
    MAX_ZONES_NAMED,
  );
  return { ...newer, verdicts: [...counts], attackedZones, users: sumOfUsers(older.users, newer.users) };
}

interface CountedMinute {
  readonly counts: Float64Array;
  readonly zones: Set<string>;
  users: UserQueries;
  mode: string | undefined;
}

export class QueryStats {
  /** Number of queries since the start, by rule id and then by verdict. */
  readonly totals = new Map<string, Float64Array>();
  readonly #detector: AttackDetector;
  readonly #verdicts: () => Float64Array;
  readonly #before = new Float64Array(VERDICTS);
  readonly #thisMinute = new Map<string, CountedMinute>();
  #usersBefore = NO_USERS;
  #minute: number;

  /** `verdicts` returns the number of queries since the start, by verdict. Default: the detector's counts. */
  constructor(detector: AttackDetector, nowMs: number, verdicts = () => detector.verdicts) {
    this.#detector = detector;
    this.#verdicts = verdicts;
    this.#minute = Math.floor(nowMs / MINUTE_MS);
  }

  /** Counts the queries since the last call under the rule in force. Call every second, and before a rule changes. */
  collect(nowMs: number): void {
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
    const users = { ...this.#detector.userQueries };
    minute.users = sumOfUsers(minute.users, usersSince(this.#usersBefore, users));
    this.#usersBefore = users;
    minute.mode = this.#detector.rule?.mode;
    for (const zone of this.#detector.zones.all())
      if (zone.isReported(nowMs) && minute.zones.size < MAX_ZONES_NAMED) minute.zones.add(zone.name);
  }

  /** Calls {@link collect}. If a minute has ended, returns its records, one per rule. Otherwise, returns none. */
  tick(nowMs: number): MinuteRecord[] {
    this.collect(nowMs);
    return Math.floor(nowMs / MINUTE_MS) === this.#minute ? [] : this.flush(nowMs);
  }

  /** Calls {@link collect}. Returns the records of the current minute so far, one per rule. */
  currentMinute(nowMs: number): MinuteRecord[] {
    this.collect(nowMs);
    return [...this.#thisMinute].map(([ruleId, counted]) => this.#record(ruleId, counted));
  }

  /** Returns the records of the current minute so far, and starts a new minute. */
  flush(nowMs: number): MinuteRecord[] {
    const records = this.currentMinute(nowMs);
    this.#thisMinute.clear();
    this.#minute = Math.floor(nowMs / MINUTE_MS);
    return records;
  }

  #record(ruleId: string, { counts, zones, users, mode }: CountedMinute): MinuteRecord {
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
      users,
      ...(mode !== undefined && { mode }),
    };
  }

  #of(ruleId: string): CountedMinute {
    const found = this.#thisMinute.get(ruleId);
    if (found !== undefined) return found;
    const made: CountedMinute = {
      counts: new Float64Array(VERDICTS),
      zones: new Set(),
      users: NO_USERS,
      mode: undefined,
    };
    this.#thisMinute.set(ruleId, made);
    return made;
  }
}
