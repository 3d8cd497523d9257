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

it('never lets more through in any stretch of time than the burst and the rate over that time', () => {
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

it('lets everything through that stays within rate and burst', () => {
  const bucket = fullBucket(100, 5);
  for (let second = 0; second < 50; second++)
    for (let i = 0; i < 100; i++) expect(bucket.take(START + second * 1000 + i * 10)).toBe(true);
});

it('keeps the reserve for those who may use it', () => {
  const bucket = fullBucket(0, 10);
  let first = 0;
  while (bucket.take(START, 4)) first++;
  expect(first).toBe(6);
  let reserved = 0;
  while (bucket.take(START)) reserved++;
  expect(reserved).toBe(4);
});

it('brings no tokens when the clock goes backwards', () => {
  const bucket = fullBucket(10, 10);
  while (bucket.take(START));
  expect(bucket.take(START - 60_000)).toBe(false);
  expect(bucket.level(START - 59_000)).toBeCloseTo(10);
});

it('grows and shrinks without losing what is in it', () => {
  const bucket = fullBucket(1, 10);
  for (let i = 0; i < 4; i++) bucket.take(START);
  bucket.resize(1, 20, START);
  expect(bucket.level(START)).toBe(16);
  bucket.resize(1, 5, START);
  expect(bucket.level(START)).toBe(5);
});
