import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BUCKET_BYTES, TokenBucket } from './tokenBucket.ts';

function fullBucket(ratePerSecond: number, burst: number): TokenBucket {
  const bucket = new TokenBucket(new SharedArrayBuffer(BUCKET_BYTES), 0);
  bucket.resize(ratePerSecond, burst, 0);
  return bucket;
}

const START = 1_000_000;
const asks = fc.array(fc.record({ waitMs: fc.nat(2000), queries: fc.nat(50) }), { maxLength: 50 });

it('a token bucket never passes more than burst plus rate in any time span', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 1, max: 500 }),
      asks,
      (rate, burst, steps) => {
        const bucket = fullBucket(rate, burst);
        const passed: number[] = [];
        let now = START;
        for (const { waitMs, queries } of steps) {
          now += waitMs;
          for (let i = 0; i < queries; i++) if (bucket.take(now)) passed.push(now);
        }
        for (let from = 0; from < passed.length; from += 7) {
          const elapsedMs = (passed.at(-1) ?? 0) - (passed[from] ?? 0);
          expect(passed.length - from).toBeLessThanOrEqual(burst + (rate * elapsedMs) / 1000 + 1e-6);
        }
      },
    ),
  );
});

it('a token bucket passes all queries within rate and burst', () => {
  const bucket = fullBucket(100, 5);
  for (let second = 0; second < 50; second++)
    for (let i = 0; i < 100; i++) expect(bucket.take(START + second * 1000 + i * 10)).toBe(true);
});

it('a token bucket keeps its reserve for queries that may use it', () => {
  const bucket = fullBucket(0, 10);
  let first = 0;
  while (bucket.take(START, 4)) first++;
  expect(first).toBe(6);
  let reserved = 0;
  while (bucket.take(START)) reserved++;
  expect(reserved).toBe(4);
});

it('a token bucket gains no tokens when the clock is set back', () => {
  const bucket = fullBucket(10, 10);
  while (bucket.take(START));
  expect(bucket.take(START - 60_000)).toBe(false);
  expect(bucket.level(START - 59_000)).toBeCloseTo(10);
});

it('a resized token bucket keeps its tokens up to the new burst', () => {
  const bucket = fullBucket(1, 10);
  for (let i = 0; i < 4; i++) bucket.take(START);
  bucket.resize(1, 20, START);
  expect(bucket.level(START)).toBe(16);
  bucket.resize(1, 5, START);
  expect(bucket.level(START)).toBe(5);
});
