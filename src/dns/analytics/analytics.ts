/**
 * Answers `GET …/rules/{rule_id}/analytics`: query counts of all guards under a rule, and the status of the guard in
 * this process.
 */

import { type GuardLocation, StoreUnavailable } from '../../rules/index.ts';
import { type AttackDetector, type Explanation, explain } from '../detector/index.ts';
import { BadNameError, typeNumber } from '../protocol/index.ts';
import { type AnalyticsQuery, InvalidAnalyticsQuery, readAnalyticsQuery } from './analyticsQuery.ts';
import { type Counts, countsOf } from './counts.ts';
import { type DetectorStatus, detectorStatusOf, sinceStart } from './detectorStatus.ts';
import { type GuardMinute, type MinutesQuery, matchesLocation } from './guardMinute.ts';
import { type LocationCounts, MinuteSums } from './minuteSums.ts';
import { type MinuteRecord, mergeMinutes, type QueryStats } from './queryStats.ts';
import type { QueryStatsStore } from './queryStatsStore.ts';

const MINUTE_MS = 60_000;

export interface AnalyticsMinute extends Counts {
  readonly start: string;
  readonly rate_per_second: number;
  readonly burst: number;
  readonly profile_names: number;
  readonly attacked_zones: readonly string[];
}

export interface Analytics {
  readonly rule_id: string;
  readonly since: string;
  readonly until: string;
  readonly totals: Counts;
  /** False if the counts of other guards cannot be read because the database is unreachable. */
  readonly complete: boolean;
  readonly places: readonly LocationCounts[];
  /** Status of this server's guard. Absent if this server has no guard, or its guard protects another account. */
  readonly now?: DetectorStatus & {
    readonly in_force: boolean;
    /** Query counts under this rule since the guard started. */
    readonly since_start: Counts;
  };
  /** Set if the query has `name`. */
  readonly explanation?: Explanation;
  readonly minutes: readonly AnalyticsMinute[];
}

export interface LocalGuard {
  readonly account: string;
  readonly instance: string;
  readonly place: GuardLocation;
  readonly detector: AttackDetector;
  readonly stats: QueryStats;
  readonly store: QueryStatsStore;
}

/** Query counts, by minute, that all guards have reported to the shared database. */
export interface ReportedMinutes {
  /** Throws `StoreUnavailable`. Throws `InvalidAnalyticsQuery` if the query selects too many minutes. */
  minutes(query: MinutesQuery): AsyncIterable<GuardMinute>;
  /** Returns the first minute that this guard may not have reported completely, or undefined if this is not known. */
  reportedUntil(): number | undefined;
}

export interface AnalyticsParts {
  /** The guard in this process. */
  readonly own: LocalGuard | undefined;
  /** Undefined if there is no shared database. The guard in this process is then the only one. */
  readonly reported?: ReportedMinutes | undefined;
  readonly now: () => number;
}

/**
 * Returns the handler of analytics requests. Query parameters: `since` and `until` (RFC 3339; default: the last hour;
 * at most seven days), `region`, `datacenter`, and `name` with `type` (default: A) for an explanation. The current
 * minute contains the counts of the guard in this process so far. The handler throws `InvalidAnalyticsQuery`.
 */
export function createAnalyticsHandler({ own: guard, reported, now }: AnalyticsParts) {
  return async (
    { account, ruleId }: { readonly account: string; readonly ruleId: string },
    query: Readonly<Record<string, unknown>>,
  ): Promise<Analytics> => {
    const nowMs = now();
    const asked = readAnalyticsQuery(query, nowMs);
    const own = guard?.account === account ? guard : undefined;
    const explanation = asked.name === undefined ? undefined : explainName(own, asked, nowMs);
    // Call `reportedUntil` before the database is read. Otherwise, a minute that is reported in between would be
    // counted twice.
    const reportedUntil = reported?.reportedUntil() ?? Number.NEGATIVE_INFINITY;
    const isNotOurs = ({ instance, record }: GuardMinute): boolean =>
      instance !== own?.instance || record.minute < reportedUntil;
    const found = await sumReportedMinutes(reported, { account, ruleId, ...asked }, isNotOurs);
    if (found === undefined && own === undefined)
      throw new StoreUnavailable('The database with the counts of the guards is unreachable');
    const sums = found ?? new MinuteSums();
    const localFrom = found === undefined ? asked.fromMinute : Math.max(asked.fromMinute, reportedUntil);
    if (own !== undefined && matchesLocation(asked, own.place))
      for (const record of recordsOf(own, ruleId, { ...asked, fromMinute: localFrom, nowMs }))
        sums.add({ place: own.place, instance: own.instance, record });
    const minutes = sums.minutes();
    return {
      rule_id: ruleId,
      since: new Date(asked.sinceMs).toISOString(),
      until: new Date(asked.untilMs).toISOString(),
      totals: countsOf(minutes.flatMap(({ verdicts }) => verdicts)),
      complete: found !== undefined,
      places: sums.places(),
      ...(own && {
        now: {
          in_force: own.detector.rule?.id === ruleId,
          ...detectorStatusOf(own.detector, nowMs),
          since_start: sinceStart(own.stats, nowMs, ruleId),
        },
      }),
      ...(explanation && { explanation }),
      minutes: minutes.map(minuteOf),
    };
  };
}

async function sumReportedMinutes(
  reported: ReportedMinutes | undefined,
  query: MinutesQuery,
  counts: (minute: GuardMinute) => boolean,
): Promise<MinuteSums | undefined> {
  const sums = new MinuteSums();
  if (reported === undefined) return sums;
  try {
    for await (const minute of reported.minutes(query)) if (counts(minute)) sums.add(minute);
    return sums;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return undefined;
  }
}

interface Span {
  readonly fromMinute: number;
  readonly toMinute: number;
  readonly nowMs: number;
}

/**
 * Returns the records of this guard: stored minutes and the current minute. If the guard was restarted in the current
 * minute, its record includes the counts from before the restart.
 */
function recordsOf(
  { store, stats }: LocalGuard,
  ruleId: string,
  { fromMinute, toMinute, nowMs }: Span,
): MinuteRecord[] {
  const records = [...store.range(ruleId, fromMinute, toMinute)];
  for (const record of stats.currentMinute(nowMs)) {
    if (record.ruleId !== ruleId || record.minute < fromMinute || record.minute >= toMinute) continue;
    const last = records.at(-1);
    if (last?.minute === record.minute) records[records.length - 1] = mergeMinutes(last, record);
    else records.push(record);
  }
  return records;
}

function explainName(
  own: LocalGuard | undefined,
  { name, type }: AnalyticsQuery,
  nowMs: number,
): Explanation {
  if (own === undefined)
    throw new InvalidAnalyticsQuery(
      'name',
      'name cannot be explained: this server has no guard for the account',
    );
  const typeText = typeof type === 'string' ? type.toUpperCase() : 'A';
  const number = typeNumber(typeText);
  if (number === undefined)
    throw new InvalidAnalyticsQuery('type', 'type must be a query type, for example A, AAAA, TXT or TYPE65');
  try {
    return explain(own.detector, { name: String(name), type: { name: typeText, number } }, nowMs);
  } catch (error) {
    if (error instanceof BadNameError) throw new InvalidAnalyticsQuery('name', error.message);
    throw error;
  }
}

function minuteOf(record: MinuteRecord): AnalyticsMinute {
  return {
    start: new Date(record.minute * MINUTE_MS).toISOString(),
    ...countsOf(record.verdicts),
    rate_per_second: record.ratePerSecond,
    burst: record.burst,
    profile_names: record.profileNames,
    attacked_zones: record.attackedZones,
  };
}
