/** Mean query rates of each minute under all rules, for graphs of more than ten minutes. */
import { countsOf } from './counts.ts';
import { type MinuteRecord, mergeMinutes, type QueryStats } from './queryStats.ts';
import { RETENTION_MINUTES } from './queryStatsStore.ts';
import { MODES } from './recentRates.ts';

const MINUTE_MS = 60_000;
const SECONDS_PER_MINUTE = 60;
const MEMBERS = [
  'passed',
  'truncated',
  'dropped',
  'would_drop',
  'known_asked',
  'known_answered',
  'known_limited',
  'bucket_per_second',
  'attack',
  'mode',
];

export interface MinuteStore {
  /** Returns the records of all rules in order of time, from `fromMinute` (inclusive) to `toMinute` (exclusive). */
  rangeOfAll(fromMinute: number, toMinute: number): Iterable<MinuteRecord>;
}

export interface MinuteRatesQuery {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly nowMs: number;
}

/** Returns time series with one value per minute, null for a minute without a record. */
export function minuteRates(
  { store, stats }: { readonly store: MinuteStore; readonly stats: QueryStats },
  { sinceMs, untilMs, nowMs }: MinuteRatesQuery,
): Record<string, unknown> {
  const current = Math.floor(nowMs / MINUTE_MS);
  const from = Math.max(current - RETENTION_MINUTES + 1, Math.floor(sinceMs / MINUTE_MS));
  const to = Math.min(current + 1, Math.ceil(untilMs / MINUTE_MS));
  const minutes = new Map<number, MinuteRecord>();
  const add = (record: MinuteRecord): void => {
    const other = minutes.get(record.minute);
    if (record.minute >= from && record.minute < to)
      minutes.set(record.minute, other === undefined ? record : mergeMinutes(other, record));
  };
  for (const record of store.rangeOfAll(from, to)) add(record);
  for (const record of stats.currentMinute(nowMs)) add(record);
  const secondsOfCurrent = Math.max(1, (nowMs % MINUTE_MS) / 1000);
  const rows = Array.from({ length: Math.max(0, to - from) }, (_, i) => {
    const record = minutes.get(from + i);
    return record && ratesOf(record, from + i === current ? secondsOfCurrent : SECONDS_PER_MINUTE);
  });
  return {
    since: new Date(from * MINUTE_MS).toISOString(),
    ...Object.fromEntries(MEMBERS.map((member) => [member, rows.map((row) => row?.[member] ?? null)])),
  };
}

function ratesOf(
  { verdicts, users, ratePerSecond, ruleId, attackedZones, mode = 'none' }: MinuteRecord,
  seconds: number,
): Record<string, number> {
  const { passed, paid, truncated, dropped, would_drop } = countsOf(verdicts);
  const { answered = 0, limited = 0, unanswered = 0 } = users ?? {};
  const counts = {
    passed: passed + paid,
    truncated,
    dropped,
    would_drop,
    known_asked: answered + limited + unanswered,
    known_answered: answered,
    known_limited: limited,
  };
  return {
    ...Object.fromEntries(
      Object.entries(counts).map(([name, count]) => [name, Math.round((count / seconds) * 10) / 10]),
    ),
    bucket_per_second: ruleId === '' ? 0 : ratePerSecond,
    attack: attackedZones.length > 0 ? 1 : 0,
    mode: Math.max(0, MODES.indexOf(mode)),
  };
}
