import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUCKET_BYTES, TokenBucket } from '../tokenBucket.ts';
import { FluidBucket } from './fluidBucket.ts';

const SECOND_MS = 1000;
const sizes = fc.record({
  ratePerSecond: fc.integer({ min: 1, max: 200 }),
  burst: fc.integer({ min: 1, max: 1000 }),
});
/** Times of the queries of each second, in milliseconds. */
const traffic = fc.array(fc.array(fc.integer({ min: 0, max: SECOND_MS - 1 }), { maxLength: 400 }), {
  minLength: 1,
  maxLength: 40,
});
type Size = { readonly ratePerSecond: number; readonly burst: number };

/** Returns the number of queries that a bucket limits which decides each query. */
function limitedOneByOne(seconds: readonly (readonly number[])[], { ratePerSecond, burst }: Size): number {
  const bucket = new TokenBucket(new SharedArrayBuffer(BUCKET_BYTES), 0);
  bucket.resize(ratePerSecond, burst, 0);
  let limited = 0;
  for (const [second, times] of seconds.entries())
    for (const ms of times.toSorted((one, other) => one - other))
      if (!bucket.take(second * SECOND_MS + ms)) limited++;
  return limited;
}

/** Returns the number of queries that the fluid bucket counts, and how often it was full again after that. */
function limitedAsFluid(seconds: readonly (readonly number[])[], size: Size) {
  const bucket = new FluidBucket();
  let limited = 0;
  let refills = 0;
  let wasEmpty = false;
  let tokens = size.burst;
  for (const { length } of seconds) {
    const now = bucket.take(length, size);
    expect(now).toBeGreaterThanOrEqual(0);
    expect(now).toBeLessThanOrEqual(length);
    tokens += size.ratePerSecond;
    if (tokens >= size.burst && wasEmpty) {
      refills++;
      wasEmpty = false;
    }
    tokens = Math.max(0, Math.min(size.burst, tokens) - length);
    wasEmpty ||= now > 0;
    limited += now;
  }
  return { limited, refills };
}

describe('a fluid bucket', () => {
  it('counts exactly the queries that a token bucket limits if the queries of a second arrive together', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { minLength: 1, maxLength: 60 }), sizes, (counts, size) => {
        const seconds = counts.map((queries) => Array.from({ length: queries }, () => 0));
        expect(limitedAsFluid(seconds, size).limited).toBe(limitedOneByOne(seconds, size));
      }),
    );
  });

  it('counts at least as many as a token bucket, whenever the queries arrive within their second', () => {
    fc.assert(
      fc.property(traffic, sizes, (seconds, size) => {
        const { limited, refills } = limitedAsFluid(seconds, size);
        expect(limited).toBeGreaterThanOrEqual(limitedOneByOne(seconds, size) - 1 - refills);
      }),
    );
  });

  it('counts at most the tokens of one second more, each time that it ran empty', () => {
    fc.assert(
      fc.property(traffic, sizes, (seconds, size) => {
        const { limited, refills } = limitedAsFluid(seconds, size);
        const more = limited - limitedOneByOne(seconds, size);
        expect(more).toBeLessThanOrEqual((refills + 1) * size.ratePerSecond);
      }),
    );
  });

  it('gains the difference if its burst grows, and loses tokens above a smaller burst', () => {
    const bucket = new FluidBucket();
    expect(bucket.take(100, { ratePerSecond: 10, burst: 100 })).toBe(0);
    expect(bucket.take(60, { ratePerSecond: 10, burst: 150 })).toBe(0);
    expect(bucket.take(0, { ratePerSecond: 10, burst: 150 }, 15)).toBe(0);
    expect(bucket.take(60, { ratePerSecond: 10, burst: 50 })).toBe(10);
  });
});
