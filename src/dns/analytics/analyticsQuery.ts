import { parseMoment } from '../../rules/index.ts';
import { RETENTION_MINUTES } from './queryStatsStore.ts';

const MINUTE_MS = 60_000;
const DEFAULT_SPAN_MINUTES = 60;
const PARAMETERS = ['since', 'until', 'name', 'type', 'region', 'datacenter'];

/** Thrown if a query parameter is invalid. The message contains the name of the parameter and what is allowed. */
export class InvalidAnalyticsQuery extends Error {
  override readonly name = 'InvalidAnalyticsQuery';
  readonly parameter: string;

  constructor(parameter: string, message: string) {
    super(message);
    this.parameter = parameter;
  }
}

export interface AnalyticsQuery {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly fromMinute: number;
  readonly toMinute: number;
  readonly region: string | undefined;
  readonly datacenter: string | undefined;
  readonly name: unknown;
  readonly type: unknown;
}

/** Reads and checks the query parameters of an analytics request. Throws `InvalidAnalyticsQuery`. */
export function readAnalyticsQuery(query: Readonly<Record<string, unknown>>, nowMs: number): AnalyticsQuery {
  for (const name of Object.keys(query))
    if (!PARAMETERS.includes(name))
      throw new InvalidAnalyticsQuery(name, `${name} is not a parameter; allowed: ${PARAMETERS.join(', ')}`);
  const untilMs = moment('until', query['until'], nowMs);
  const sinceMs = moment('since', query['since'], untilMs - DEFAULT_SPAN_MINUTES * MINUTE_MS);
  if (sinceMs > untilMs) throw new InvalidAnalyticsQuery('since', 'since must not be after until');
  const oldest = Math.floor(nowMs / MINUTE_MS) - RETENTION_MINUTES;
  return {
    sinceMs,
    untilMs,
    fromMinute: Math.max(oldest, Math.floor(sinceMs / MINUTE_MS)),
    toMinute: Math.ceil(untilMs / MINUTE_MS),
    region: text('region', query['region']),
    datacenter: text('datacenter', query['datacenter']),
    name: query['name'],
    type: query['type'],
  };
}

function moment(name: string, value: unknown, fallbackMs: number): number {
  if (value === undefined) return fallbackMs;
  const parsed = typeof value === 'string' ? parseMoment(value) : undefined;
  if (parsed !== undefined) return Date.parse(parsed);
  throw new InvalidAnalyticsQuery(
    name,
    `${name} must be an RFC 3339 date and time, for example 2026-11-21T10:00:00Z`,
  );
}

function text(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new InvalidAnalyticsQuery(name, `${name} must occur only once`);
}
