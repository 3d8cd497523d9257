import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AssessedSpans, assess, proposedRate } from './assessment.ts';
import { FluidBucket } from './fluidBucket.ts';
import { levelOf, perLevel } from './levels.ts';
import { type SpanCounts, ZoneHistory } from './zoneHistory.ts';

const LEVEL = levelOf('medium', 'medium');
const NOW = Date.UTC(2026, 10, 21);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const span = (given: Partial<SpanCounts> = {}): SpanCounts => ({
  queries: 1_000_000,
  minutes: 60,
  peakPerSecond: 0,
  peakInTenSeconds: 0,
  limited: perLevel(),
  limitedInSuspect: perLevel(),
  ...given,
});
const at = (queries: number) => perLevel(queries);
const spans = (day: Partial<SpanCounts>, hour: Partial<SpanCounts> = {}): AssessedSpans => ({
  hour: span(hour),
  day: span(day),
  week: span(),
});
const assessed = (of: AssessedSpans, awaitsNames = false) => assess(of, { level: LEVEL, awaitsNames });

describe('a zone', () => {
  it('is safe to enable if at most 0.1 % of the queries of a day would be limited', () => {
    expect(assessed(spans({ limited: at(1000) }))).toBe('safe_to_enable');
    expect(assessed(spans({ limited: at(1001) }))).toBe('needs_rate');
  });

  it('is still learned in its first 60 minutes with queries, and while its names are loaded', () => {
    expect(assessed({ ...spans({}), week: span({ minutes: 59 }) })).toBe('still_learning');
    expect(assessed(spans({}), true)).toBe('still_learning');
  });

  it('is under attack if an attack caused most of what would be limited, until an hour after the attack', () => {
    const day = { limited: at(9000), limitedInSuspect: at(8500) };
    expect(assessed(spans(day, { limitedInSuspect: at(1) }))).toBe('under_attack');
    expect(assessed(spans(day))).toBe('safe_to_enable');
    expect(assessed(spans({ ...day, limitedInSuspect: at(7000) }))).toBe('needs_rate');
    expect(assessed(spans({ ...day, limitedInSuspect: at(4500) }, { limitedInSuspect: at(1) }))).toBe(
      'needs_rate',
    );
  });

  it('is assessed at the sensitivities in force', () => {
    const limited = perLevel();
    limited[levelOf('high', 'medium')] = 5000;
    expect(assessed(spans({ limited }))).toBe('safe_to_enable');
    expect(assess(spans({ limited }), { level: levelOf('high', 'medium'), awaitsNames: false })).toBe(
      'needs_rate',
    );
  });
});

describe('the history of a zone', () => {
  const second = (queries: number, limited = 0, isSuspect = false) => ({
    queries,
    paying: queries,
    limited: at(limited),
    isSuspect,
  });

  it('sums the last hour, day and week', () => {
    const history = new ZoneHistory();
    history.add(second(1, 1), NOW);
    history.add(second(10, 2, true), NOW + 6 * DAY_MS);
    history.add(second(100, 4), NOW + 6 * DAY_MS + 20 * HOUR_MS);
    const { hour, day, week } = history.spans(NOW + 6 * DAY_MS + 20 * HOUR_MS + 1000);
    expect([hour.queries, day.queries, week.queries]).toEqual([100, 110, 111]);
    expect([hour.minutes, day.minutes, week.minutes]).toEqual([1, 2, 3]);
    expect([hour, day, week].map(({ limited }) => limited[LEVEL])).toEqual([4, 6, 7]);
    expect([hour, day, week].map(({ limitedInSuspect }) => limitedInSuspect[LEVEL])).toEqual([0, 2, 2]);
    expect(history.spans(NOW + 20 * DAY_MS).week).toEqual(span({ queries: 0, minutes: 0 }));
  });

  it('continues if the clock is set back', () => {
    const history = new ZoneHistory();
    history.add(second(1), NOW);
    history.add(second(2), NOW - DAY_MS);
    expect(history.spans(NOW).hour.queries).toBe(3);
  });

  it('excludes suspect seconds from the peaks', () => {
    const history = new ZoneHistory();
    for (let s = 0; s < 60; s++) history.add(second(s === 30 ? 6000 : 60, 0, s === 30), NOW + s * 1000);
    expect(history.spans(NOW).day).toMatchObject({ peakPerSecond: 59, peakInTenSeconds: 600 });
  });
});

it('The proposed rate would have limited no query of the traffic from which it was computed', () => {
  // Bursts of up to 20 s in an hour.
  const bursts = fc.array(
    fc.record({
      second: fc.nat(3599),
      seconds: fc.integer({ min: 1, max: 20 }),
      queries: fc.integer({ min: 1, max: 5000 }),
    }),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(fc.nat(200), bursts, (usual, list) => {
      const counts = new Array<number>(3600).fill(usual);
      for (const { second, seconds, queries } of list)
        for (let s = second; s < Math.min(3600, second + seconds); s++) counts[s] = queries;
      const history = new ZoneHistory();
      for (const [s, queries] of counts.entries())
        history.add({ queries, paying: queries, limited: perLevel(), isSuspect: false }, NOW + s * 1000);
      const { rate, burst } = proposedRate(history.spans(NOW + HOUR_MS - 1).hour);
      const bucket = new FluidBucket();
      // A new name must leave a fifth of the bucket.
      const size = { ratePerSecond: rate, burst: 0.8 * burst };
      expect(counts.reduce((limited, queries) => limited + bucket.take(queries, size), 0)).toBe(0);
    }),
  );
});
