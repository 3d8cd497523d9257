import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RateLimits } from '../../ethereum/gateway/index.ts';
import { NotYetAdmitted } from '../../ethereum/jsonrpc/index.ts';
import { LeasedRates, leaseFrom } from './leasedRates.ts';

const WORKERS = 3;
const CALLER = 'address_rate 192.0.2.1';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

function workersOf(rates: RateLimits): LeasedRates[] {
  return Array.from({ length: WORKERS }, () => new LeasedRates(async (wanted) => leaseFrom(rates, wanted)));
}

/** As a request is admitted: asked again once it is known. */
async function take(rates: LeasedRates | undefined, perSecond: number, calls = 1): Promise<number> {
  for (;;)
    try {
      return rates?.take(CALLER, perSecond, calls) ?? 0;
    } catch (error) {
      if (!(error instanceof NotYetAdmitted)) throw error;
      await error.until;
    }
}

it('let through no more than one bucket does, but for what is leased, however calls are spread over workers and time', async () => {
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
        // More than a second's worth at once is let through after a second of rest, and paid for afterwards.
        expect(admitted).toBeLessThanOrEqual(Math.max(perSecond, 5) + perSecond * seconds + leased);
      }
    }),
  );
});

it('a client that asks one worker alone has all of its rate', async () => {
  const [worker] = workersOf(new RateLimits());
  let admitted = 0;
  for (let i = 0; i < 100; i++) if ((await take(worker, 100)) === 0) admitted++;
  expect(admitted).toBe(100);
  expect(await take(worker, 100)).toBeGreaterThan(0);
});

it('who is refused is not asked about again before there can be more', async () => {
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
