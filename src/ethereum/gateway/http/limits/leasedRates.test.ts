import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { NotYetAdmitted } from '../../../jsonrpc/index.ts';
import { LeasedRates, leaseFrom } from './leasedRates.ts';
import { RateLimits } from './rateLimits.ts';

const WORKERS = 3;
const CALLER = 'address_rate 192.0.2.1';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

function workersOf(rates: RateLimits): LeasedRates[] {
  return Array.from({ length: WORKERS }, () => new LeasedRates(async (wanted) => leaseFrom(rates, wanted)));
}

/** Takes calls in the way of request admission: retries while the decision is pending. */
async function take(rates: LeasedRates | undefined, perSecond: number, calls = 1): Promise<number> {
  for (;;)
    try {
      return rates?.take(CALLER, perSecond, calls) ?? 0;
    } catch (error) {
      if (!(error instanceof NotYetAdmitted)) throw error;
      await error.until;
    }
}

it('leased rates admit at most one bucket plus the leased calls, for any distribution over workers and time', async () => {
  const steps = fc.array(
    fc.record({ worker: fc.nat(WORKERS - 1), calls: fc.constantFrom(1, 1, 1, 2, 5), passMs: fc.nat(80) }),
    { minLength: 50, maxLength: 300 },
  );
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(1, 5, 10, 40, 100), async (taken, perSecond) => {
      const workers = workersOf(new RateLimits());
      const startMs = performance.now();
      let admitted = 0;
      for (const { worker, calls, passMs } of taken) {
        vi.advanceTimersByTime(passMs);
        if ((await take(workers[worker], perSecond, calls)) === 0) admitted += calls;
        const seconds = (performance.now() - startMs) / 1_000;
        const leased = WORKERS * Math.max(5, perSecond / 10);
        // A burst of one second's calls is allowed after a second without calls. Larger ones are paid for afterwards.
        expect(admitted).toBeLessThanOrEqual(Math.max(perSecond, 5) + perSecond * seconds + leased);
      }
    }),
  );
});

it('a client that uses a single worker gets its full rate', async () => {
  const [worker] = workersOf(new RateLimits());
  let admitted = 0;
  for (let i = 0; i < 100; i++) if ((await take(worker, 100)) === 0) admitted++;
  expect(admitted).toBe(100);
  expect(await take(worker, 100)).toBeGreaterThan(0);
});

it('a rejected caller causes no lease requests until calls can be available again', async () => {
  const rates = new RateLimits();
  let asked = 0;
  const worker = new LeasedRates(async (wanted) => {
    asked++;
    return leaseFrom(rates, wanted);
  });
  while ((await take(worker, 10)) === 0);
  const before = asked;
  for (let i = 0; i < 1_000; i++) expect(await take(worker, 10)).toBeGreaterThan(0);
  expect(asked).toBe(before);
  vi.advanceTimersByTime(150);
  expect(await take(worker, 10)).toBe(0);
});
