import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenBucket } from './tokenBucket.ts';

describe('TokenBucket', () => {
  it('admits at most its rate plus the calls of one second', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.record({ waitMs: fc.nat(500), calls: fc.integer({ min: 1, max: 60 }) }), {
          maxLength: 200,
        }),
        (rate, steps) => {
          const bucket = new TokenBucket(rate, 0);
          let nowMs = 0;
          let passed = 0;
          let lastCalls = 0;
          for (const { waitMs, calls } of steps) {
            nowMs += waitMs;
            if (bucket.take(calls, nowMs) > 0) continue;
            passed += calls;
            lastCalls = Math.max(lastCalls, calls);
          }
          // The last batch may exceed the rate; it is paid for afterwards.
          expect(passed).toBeLessThanOrEqual(rate + (nowMs / 1_000) * rate + lastCalls + 1e-6);
        },
      ),
    );
  });

  it('admits calls after the wait that it returned', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 1, max: 80 })),
        (rate, many) => {
          const bucket = new TokenBucket(rate, 0);
          let nowMs = 0;
          for (const calls of many) {
            const waitS = bucket.take(calls, nowMs);
            if (waitS === 0) continue;
            nowMs += waitS * 1_000 + 1e-6;
            expect(bucket.take(calls, nowMs)).toBe(0);
          }
        },
      ),
    );
  });
});
