/** The answer to `GET …/rules/{rule_id}/analytics`: what the guard did under a rule, and how it stands now. */
import { type AttackDetector, type Explanation, explain } from '../detector/index.ts';
import { BadNameError, typeNumber } from '../protocol/index.ts';
import { type Counts, countsOf } from './counts.ts';
import { type MinuteRecord, mergeMinutes, type QueryStats } from './queryStats.ts';
import { KEPT_MINUTES, type QueryStatsStore } from './queryStatsStore.ts';
import { type Standing, sinceStart, standingOf } from './standing.ts';

const MINUTE_MS = 60_000;
/** The last hour, where the caller does not say. */
const DEFAULT_SPAN_MINUTES = 60;
const PARAMETERS = ['since', 'until', 'name', 'type'];

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
  readonly now: Standing & {
    /** Whether this rule is the one in force at this guard. */
    readonly in_force: boolean;
    /** What came of queries under this rule since the guard was started. */
    readonly since_start: Counts;
  };
  /** Only where `name` was asked about. */
  readonly explanation?: Explanation;
  readonly minutes: readonly AnalyticsMinute[];
}

/** A query that cannot be answered; the message names the parameter and what it may be. */
export class InvalidAnalyticsQuery extends Error {
  override readonly name = 'InvalidAnalyticsQuery';
  readonly parameter: string;

  constructor(parameter: string, message: string) {
    super(message);
    this.parameter = parameter;
  }
}

export interface AnalyticsParts {
  readonly detector: AttackDetector;
  readonly stats: QueryStats;
  readonly store: QueryStatsStore;
  readonly now: () => number;
}

/**
 * Makes the handler. The query may have `since` and `until` (RFC 3339; the last hour where left out, at most the
 * seven days that are kept), and `name` with `type` (A where left out) to be explained. Throws `InvalidAnalyticsQuery`. The last minute is the
 * one that lasts, with what it has so far.
 */
export function analyticsOf({ detector, stats, store, now }: AnalyticsParts) {
  return (ruleId: string, query: Readonly<Record<string, unknown>>): Analytics => {
    const nowMs = now();
    for (const name of Object.keys(query))
      if (!PARAMETERS.includes(name))
        throw new InvalidAnalyticsQuery(
          name,
          `${name} is no parameter here; there are ${PARAMETERS.join(', ')}`,
        );
    const untilMs = moment('until', query['until'], nowMs);
    const sinceMs = moment('since', query['since'], untilMs - DEFAULT_SPAN_MINUTES * MINUTE_MS);
    if (sinceMs > untilMs) throw new InvalidAnalyticsQuery('since', 'since lies after until');
    const oldest = Math.floor(nowMs / MINUTE_MS) - KEPT_MINUTES;
    const from = Math.max(oldest, Math.floor(sinceMs / MINUTE_MS));
    const until = Math.ceil(untilMs / MINUTE_MS);
    const running = stats
      .running(nowMs)
      .filter((record) => record.ruleId === ruleId && record.minute >= from && record.minute < until);
    const records = withRunning([...store.range(ruleId, from, until)], running);
    return {
      rule_id: ruleId,
      since: new Date(sinceMs).toISOString(),
      until: new Date(untilMs).toISOString(),
      totals: countsOf(records.flatMap(({ verdicts }) => verdicts)),
      now: {
        in_force: detector.rule?.id === ruleId,
        ...standingOf(detector, nowMs),
        since_start: sinceStart(stats, nowMs, ruleId),
      },
      ...(query['name'] !== undefined && {
        explanation: explained(detector, query, nowMs),
      }),
      minutes: records.map(minuteOf),
    };
  };
}

/** What an earlier run stored of the minute that lasts is a part of it. */
function withRunning(stored: MinuteRecord[], running: readonly MinuteRecord[]): MinuteRecord[] {
  for (const record of running) {
    const last = stored.at(-1);
    if (last?.minute === record.minute) stored[stored.length - 1] = mergeMinutes(last, record);
    else stored.push(record);
  }
  return stored;
}

function explained(
  detector: AttackDetector,
  { name, type }: Readonly<Record<string, unknown>>,
  nowMs: number,
): Explanation {
  const typeText = typeof type === 'string' ? type.toUpperCase() : 'A';
  const number = typeNumber(typeText);
  if (number === undefined)
    throw new InvalidAnalyticsQuery('type', 'type is no query type; write A, AAAA, TXT or TYPE65');
  try {
    return explain(detector, { name: String(name), type: { name: typeText, number } }, nowMs);
  } catch (error) {
    if (error instanceof BadNameError) throw new InvalidAnalyticsQuery('name', error.message);
    throw error;
  }
}

function moment(name: string, value: unknown, fallbackMs: number): number {
  if (value === undefined) return fallbackMs;
  const ms = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms))
    throw new InvalidAnalyticsQuery(name, `${name} is no date and time; write 2026-11-21T10:00:00Z`);
  return ms;
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
