/** The answer to `GET …/rules/{rule_id}/analytics`: what guards did under a rule, and how the one of this server stands now. */

import { type Place, StoreUnavailable } from '../../rules/index.ts';
import { type AttackDetector, type Explanation, explain } from '../detector/index.ts';
import { BadNameError, typeNumber } from '../protocol/index.ts';
import { type AnalyticsQuery, InvalidAnalyticsQuery, readAnalyticsQuery } from './analyticsQuery.ts';
import { type Counts, countsOf } from './counts.ts';
import { MinuteSums, type PlaceCounts } from './minuteSums.ts';
import { isAt, type MinutesQuery, type PlacedMinute } from './placedMinute.ts';
import { type MinuteRecord, mergeMinutes, type QueryStats } from './queryStats.ts';
import type { QueryStatsStore } from './queryStatsStore.ts';
import { type Standing, sinceStart, standingOf } from './standing.ts';

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
  /** False where other guards' counts cannot be read now: the database is away. */
  readonly complete: boolean;
  readonly places: readonly PlaceCounts[];
  /** How the guard of this server stands; left out where it guards another account, or nothing. */
  readonly now?: Standing & {
    /** Whether this rule is the one in force at this guard. */
    readonly in_force: boolean;
    /** What came of queries under this rule since the guard was started. */
    readonly since_start: Counts;
  };
  /** Only where `name` was asked about. */
  readonly explanation?: Explanation;
  readonly minutes: readonly AnalyticsMinute[];
}

/** The guard of this server. */
export interface OwnGuard {
  readonly account: string;
  readonly instance: string;
  readonly place: Place;
  readonly detector: AttackDetector;
  readonly stats: QueryStats;
  readonly store: QueryStatsStore;
}

/** What all guards have told so far. */
export interface ToldMinutes {
  /** Throws `StoreUnavailable`, and `InvalidAnalyticsQuery` where there are too many. */
  minutes(query: MinutesQuery): AsyncIterable<PlacedMinute>;
  /** From this minute on the own guard may not have told all; undefined where that is not known. */
  toldUntil(): number | undefined;
}

export interface AnalyticsParts {
  readonly own: OwnGuard | undefined;
  /** None where the own guard is the only one. */
  readonly told?: ToldMinutes | undefined;
  readonly now: () => number;
}

/**
 * Makes the handler. The query may have `since` and `until` (RFC 3339; the last hour where left out, at most the
 * seven days that are kept), `region` and `datacenter`, and `name` with `type` (A where left out) to be explained. Throws
 * `InvalidAnalyticsQuery`. The last minute is the one that lasts, with what the own guard has of it so far.
 */
export function analyticsOf({ own: guard, told, now }: AnalyticsParts) {
  return async (
    { account, ruleId }: { readonly account: string; readonly ruleId: string },
    query: Readonly<Record<string, unknown>>,
  ): Promise<Analytics> => {
    const nowMs = now();
    const asked = readAnalyticsQuery(query, nowMs);
    const own = guard?.account === account ? guard : undefined;
    const explanation = asked.name === undefined ? undefined : explained(own, asked, nowMs);
    // Looked at first: what is told meanwhile would be there twice otherwise.
    const toldUntil = told?.toldUntil() ?? Number.NEGATIVE_INFINITY;
    const isNotOurs = ({ instance, record }: PlacedMinute): boolean =>
      instance !== own?.instance || record.minute < toldUntil;
    const found = await toldOf(told, { account, ruleId, ...asked }, isNotOurs);
    if (found === undefined && own === undefined) throw new StoreUnavailable('What guards counted is away');
    const sums = found ?? new MinuteSums();
    const localFrom = found === undefined ? asked.fromMinute : Math.max(asked.fromMinute, toldUntil);
    if (own !== undefined && isAt(asked, own.place))
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
          ...standingOf(own.detector, nowMs),
          since_start: sinceStart(own.stats, nowMs, ruleId),
        },
      }),
      ...(explanation && { explanation }),
      minutes: minutes.map(minuteOf),
    };
  };
}

/** Undefined where it cannot be read now. */
async function toldOf(
  told: ToldMinutes | undefined,
  query: MinutesQuery,
  counts: (minute: PlacedMinute) => boolean,
): Promise<MinuteSums | undefined> {
  const sums = new MinuteSums();
  if (told === undefined) return sums;
  try {
    for await (const minute of told.minutes(query)) if (counts(minute)) sums.add(minute);
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

/** What is stored here, and the minute that lasts: what an earlier run stored of that is a part of it. */
function recordsOf(
  { store, stats }: OwnGuard,
  ruleId: string,
  { fromMinute, toMinute, nowMs }: Span,
): MinuteRecord[] {
  const records = [...store.range(ruleId, fromMinute, toMinute)];
  for (const record of stats.running(nowMs)) {
    if (record.ruleId !== ruleId || record.minute < fromMinute || record.minute >= toMinute) continue;
    const last = records.at(-1);
    if (last?.minute === record.minute) records[records.length - 1] = mergeMinutes(last, record);
    else records.push(record);
  }
  return records;
}

function explained(own: OwnGuard | undefined, { name, type }: AnalyticsQuery, nowMs: number): Explanation {
  if (own === undefined)
    throw new InvalidAnalyticsQuery('name', 'name is explained by a guard of the account, and here is none');
  const typeText = typeof type === 'string' ? type.toUpperCase() : 'A';
  const number = typeNumber(typeText);
  if (number === undefined)
    throw new InvalidAnalyticsQuery('type', 'type is no query type; write A, AAAA, TXT or TYPE65');
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
