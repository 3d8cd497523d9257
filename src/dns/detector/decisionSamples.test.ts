import { expect, it } from 'vitest';
import {
  DECISION_SAMPLES_BYTES,
  DecisionSamples,
  isAttackedIn,
  isKnownIn,
  isNewClientIn,
  packFacts,
  reasonIn,
  zoneIn,
} from './decisionSamples.ts';

const NOW = Date.UTC(2026, 10, 22, 3, 0, 0);
const SECOND_MS = 1000;
const SPAN_MS = 60 * SECOND_MS;

const memory = () => new SharedArrayBuffer(DECISION_SAMPLES_BYTES);
const decided = (n: number) => ({ facts: n & 0xfff, hashHigh: n >>> 0, hashLow: ~n >>> 0, client: n | 1 });
interface Traffic {
  readonly perSecond: number;
  readonly seconds: number;
  readonly startMs?: number;
}
/** Runs evenly spaced queries of one thread. Returns the end of the last second. */
function run(samples: DecisionSamples, { perSecond, seconds, startMs = NOW }: Traffic): number {
  for (let n = 0; n < perSecond * seconds; n++) {
    const nowMs = startMs + (n * SECOND_MS) / perSecond;
    if (samples.shouldRecord(nowMs)) samples.record(decided(n), nowMs);
  }
  return startMs + seconds * SECOND_MS;
}
const weightOf = (all: readonly { readonly weight: number }[]) =>
  all.reduce((total, { weight }) => total + weight, 0);

it('records every query unchanged at low rates', () => {
  const samples = new DecisionSamples(memory());
  const nowMs = run(samples, { perSecond: 250, seconds: 60 });
  const { samples: kept, sinceMs } = samples.read(nowMs, SPAN_MS);
  expect(kept).toHaveLength(15_000);
  expect(sinceMs).toBe(nowMs - SPAN_MS);
  for (const n of [0, 1, 12_345, 14_999])
    expect(kept[n]).toEqual({ ...decided(n), timeMs: NOW + n * 4, weight: 1 });
});

it('records a bounded, weighted sample of a flood, and returns only the requested time span', () => {
  const samples = new DecisionSamples(memory());
  run(samples, { perSecond: 200, seconds: 10 });
  const floodMs = NOW + 10 * SECOND_MS;
  const nowMs = run(samples, { perSecond: 100_000, seconds: 20, startMs: floodMs });
  const { samples: kept, sinceMs } = samples.read(nowMs, SPAN_MS);
  const flood = kept.filter(({ timeMs }) => timeMs >= floodMs);
  // The first second of a flood has more samples, because the rate is not known yet.
  expect(flood.length).toBeLessThan(20 * 300 + 256 * 9);
  expect(flood.length).toBeGreaterThan(20 * 200);
  expect(Math.abs(weightOf(flood) - 2_000_000)).toBeLessThan(2000);
  expect(sinceMs).toBe(nowMs - SPAN_MS);
  const last = samples.read(nowMs, 5 * SECOND_MS).samples;
  expect(weightOf(last) / 500_000).toBeCloseTo(1, 2);
  // Queries are sampled with equal probability, regardless of their order.
  const even = flood.filter(({ hashHigh }) => hashHigh % 2 === 0);
  expect(Math.abs(weightOf(even) / weightOf(flood) - 0.5)).toBeLessThan(0.04);
});

it('records every query again soon after a flood', () => {
  const samples = new DecisionSamples(memory());
  const floodEndsMs = run(samples, { perSecond: 200_000, seconds: 3 });
  const nowMs = run(samples, { perSecond: 10, seconds: 5, startMs: floodEndsMs });
  const { samples: kept } = samples.read(nowMs, 2_950);
  expect(kept.map(({ weight }) => weight)).toEqual(Array(29).fill(1));
});

it('reports the start of complete samples when the ring overflows, and tolerates a clock that is set back', () => {
  const words = memory();
  const threads = Array.from({ length: 16 }, () => new DecisionSamples(words));
  for (let second = 0; second < 30; second++)
    for (const thread of threads)
      run(thread, { perSecond: 250, seconds: 1, startMs: NOW + second * SECOND_MS });
  const nowMs = NOW + 30 * SECOND_MS;
  const { samples: kept, sinceMs } = (threads[0] as DecisionSamples).read(nowMs, SPAN_MS);
  expect(kept).toHaveLength(65_536);
  expect(Math.round((nowMs - sinceMs) / SECOND_MS)).toBe(16);

  const samples = new DecisionSamples(memory());
  run(samples, { perSecond: 250, seconds: 2 });
  const beforeMs = NOW - 24 * 3_600_000;
  const laterMs = run(samples, { perSecond: 250, seconds: 2, startMs: beforeMs });
  expect(samples.read(laterMs, SPAN_MS).samples).toHaveLength(500);
});

it('packs reasons per sensitivity, known name, new client and zone into one word', () => {
  const reasons = ['none', 'unknownName', 'unknownType', 'zoneRate'] as const;
  for (const isKnown of [true, false])
    for (const zone of [0, 1, 4096]) {
      const about = { isKnown, isNewClient: !isKnown, isAttacked: isKnown, zone };
      const one = { ...decided(1), facts: packFacts((level) => reasons[level] ?? 'none', about) };
      expect([0, 1, 2, 3].map((level) => reasonIn(one, level))).toEqual(reasons);
      expect({
        isKnown: isKnownIn(one),
        isNewClient: isNewClientIn(one),
        isAttacked: isAttackedIn(one),
        zone: zoneIn(one),
      }).toEqual(about);
    }
});
