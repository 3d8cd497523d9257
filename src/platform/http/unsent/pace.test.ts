import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pace } from './pace.ts';

const SEND_TIMEOUT_MS = 30_000;
const SWEEP_MS = 500;

/** Runs sweeps until the client is stalled; `takenBytes` returns the bytes that it received by then. */
function run(takenBytes: (sweep: number) => number, sweeps: number): { pace: Pace; stalledAtMs?: number } {
  const pace = new Pace(SEND_TIMEOUT_MS, 0);
  for (let sweep = 1; sweep <= sweeps; sweep++) {
    pace.passed(SWEEP_MS, takenBytes(sweep));
    if (pace.isStalled) return { pace, stalledAtMs: sweep * SWEEP_MS };
  }
  return { pace };
}

describe('the pace of a client', () => {
  it('is slow after two seconds without a byte, and stalled after the send timeout', () => {
    expect(run(() => 0, 3).pace.isSlow).toBe(false);
    expect(run(() => 0, 4).pace.isSlow).toBe(true);
    expect(run(() => 0, 1_000).stalledAtMs).toBe(SEND_TIMEOUT_MS);
  });

  it('is stalled at a byte a second', () => {
    expect(run((sweep) => sweep, 1_000).stalledAtMs).toBeLessThan(1.1 * SEND_TIMEOUT_MS);
  });

  it('is stalled if a few bytes arrive just before each timeout', () => {
    const steps = (sweep: number): number => 1_000 * Math.floor((sweep * SWEEP_MS) / 29_000);
    expect(run(steps, 10_000).stalledAtMs).toBeLessThan(2 * SEND_TIMEOUT_MS);
  });

  it('cannot be saved up: bytes received at first do not prolong the timeout', () => {
    expect(run(() => 100_000_000, 1_000).stalledAtMs).toBeLessThanOrEqual(SEND_TIMEOUT_MS + SWEEP_MS);
    expect(run(() => 100_000_000, 14).pace.isSlow).toBe(true);
  });

  it('is never stalled at two kilobytes a second, in steps of up to twenty seconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (sweepsPerStep) => {
        const taken = (sweep: number): number => Math.floor(sweep / sweepsPerStep) * sweepsPerStep * 1_024;
        expect(run(taken, 2_000).stalledAtMs).toBeUndefined();
      }),
    );
  });

  it('is not slow at 100 kB a second, in steps of up to a second', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2 }),
        fc.integer({ min: 1, max: 200 }),
        (sweepsPerStep, sweeps) => {
          const taken = (sweep: number): number => Math.floor(sweep / sweepsPerStep) * sweepsPerStep * 50_000;
          expect(run(taken, sweeps).pace.isSlow).toBe(false);
        },
      ),
    );
  });

  it('is slow at 10 kB a second', () => {
    expect(run((sweep) => sweep * 5_000, 12).pace.isSlow).toBe(true);
  });
});
