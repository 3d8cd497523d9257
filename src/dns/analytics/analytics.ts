/** The answer to `GET …/rules/{rule_id}/analytics`: what the guard did under a rule, and how it stands now. */
import {
  type AttackDetector,
  type Explanation,
  explain,
  type Outcome,
  outcomeOf,
  outcomes,
  reasonOf,
  type Verdict,
} from '../detector/index.ts';
import { BadNameError, typeNumber } from '../protocol/index.ts';
import type { MinuteRecord, QueryStats } from './queryStats.ts';
import { KEPT_MINUTES, type QueryStatsStore } from './queryStatsStore.ts';

const MINUTE_MS = 60_000;
/** The last hour, where the caller does not say. */
const DEFAULT_SPAN_MINUTES = 60;
const PARAMETERS = ['since', 'until', 'name', 'type'];

export interface Counts {
  readonly passed: number;
  readonly paid: number;
  readonly would_drop: number;
  readonly dropped: number;
  readonly truncated: number;
  /** Those that had to pay, by why and by what came of it: `{"unknownName": {"dropped": 7}}`. */
  readonly reasons: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

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
  readonly now: {
    /** Whether this rule is the one in force at this guard. */
    readonly in_force: boolean;
    /** False while the guard drops nothing because it has not learned enough. */
    readonly ready: boolean;
    readonly profile_names: number;
    readonly profile_bytes: number;
    readonly threshold: { readonly rate_per_second: number; readonly burst: number };
    readonly bucket: { readonly rate_per_second: number; readonly burst: number; readonly tokens: number };
    /** What came of queries under this rule since the guard was started. */
    readonly since_start: Counts;
    readonly attack: boolean;
    readonly attacked_zones: readonly string[];
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
 * seven days that are kept), and `name` with `type` (A where left out) to be explained. Throws `InvalidAnalyticsQuery`. The minute that lasts is not among the minutes yet.
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
    const records = [...store.range(ruleId, from, Math.ceil(untilMs / MINUTE_MS))];
    return {
      rule_id: ruleId,
      since: new Date(sinceMs).toISOString(),
      until: new Date(untilMs).toISOString(),
      totals: countsOf(records.flatMap(({ verdicts }) => verdicts)),
      now: standing({ detector, stats }, ruleId, nowMs),
      ...(query['name'] !== undefined && {
        explanation: explained(detector, query, nowMs),
      }),
      minutes: records.map(minuteOf),
    };
  };
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

/** How the guard stands at this moment, as one rule sees it. */
function standing(
  { detector, stats }: Pick<AnalyticsParts, 'detector' | 'stats'>,
  ruleId: string,
  nowMs: number,
): Analytics['now'] {
  stats.note(nowMs);
  const { threshold } = detector.history;
  const bucket = detector.bucketSize();
  const zones = detector.zones.all().filter((zone) => zone.attacked(nowMs));
  return {
    in_force: detector.rule?.id === ruleId,
    ready: detector.ready,
    profile_names: detector.profile.size,
    profile_bytes: detector.profile.bytes,
    threshold: { rate_per_second: threshold.ratePerSecond, burst: threshold.burst },
    bucket: {
      rate_per_second: bucket.ratePerSecond,
      burst: bucket.burst,
      tokens: Math.floor(detector.tokens(nowMs)),
    },
    since_start: countsOf(
      [...(stats.totals.get(ruleId) ?? [])].map((queries, verdict) => [verdict, queries]),
    ),
    attack: detector.attack,
    attacked_zones: zones.map(({ name }) => name),
  };
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

function countsOf(verdicts: readonly (readonly [number, number])[]): Counts {
  const totals = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>; // its keys are outcomes
  const byReason: Record<string, Record<string, number>> = {};
  for (const [number, queries] of verdicts) {
    const verdict = number as Verdict; // stored as it was given
    const outcome = outcomeOf(verdict);
    const reason = reasonOf(verdict);
    totals[outcome] += queries;
    if (reason === 'none' || queries === 0) continue;
    byReason[reason] ??= {};
    const counts = byReason[reason];
    counts[wireName[outcome]] = (counts[wireName[outcome]] ?? 0) + queries;
  }
  const { passed, paid, wouldDrop, dropped, truncated } = totals;
  return { passed, paid, would_drop: wouldDrop, dropped, truncated, reasons: byReason };
}

const wireName: Readonly<Record<Outcome, string>> = {
  passed: 'passed',
  paid: 'paid',
  wouldDrop: 'would_drop',
  dropped: 'dropped',
  truncated: 'truncated',
};
