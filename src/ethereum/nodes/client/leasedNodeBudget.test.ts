import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sizeInSearch } from '../../../../test/support/search.ts';
import { LeasedNodeBudget, leaseFromNode, type NodeLease, type WantedNodeLease } from './leasedNodeBudget.ts';
import { NodeBudget, type NodeLimits, type Urgency } from './nodeBudget.ts';

const WORKERS = 3;
/** Far more than any of these budgets has. */
const MANY = 100_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** A first process, its workers, and the latency of messages between them. */
function machineOf(limits: NodeLimits, { latencyMs = 0 } = {}) {
  const budget = new NodeBudget(limits);
  /** `leastLeft`: the lowest budget that was left for polls after a lease. */
  const machine = { latencyMs, asked: 0, leastLeft: Number.POSITIVE_INFINITY };
  const late = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, machine.latencyMs));
  const ask = async (wanted: WantedNodeLease): Promise<NodeLease> => {
    machine.asked++;
    if (machine.latencyMs > 0) await late();
    const lease = leaseFromNode(budget, wanted);
    if (lease.calls > 0) machine.leastLeft = Math.min(machine.leastLeft, budget.callsLeft('retry'));
    if (machine.latencyMs > 0) await late();
    return lease;
  };
  const worker = (): LeasedNodeBudget => new LeasedNodeBudget(limits, ask);
  return { machine, budget, ask, worker, workers: Array.from({ length: WORKERS }, worker) };
}

/** Takes one call as a request does: waits for leases only. */
async function take(budget: LeasedNodeBudget | undefined, urgency: Urgency = 'firstTry'): Promise<boolean> {
  let asked = 0;
  for (let lease = budget?.lease(urgency); lease !== undefined; lease = budget?.lease(urgency)) {
    if (++asked > MANY) throw new Error('it asks again and again');
    await lease;
  }
  if ((budget?.callsLeft(urgency) ?? 0) < 1) return false;
  budget?.takeCalls(1);
  return true;
}

/** Returns the number of retries that are sent before one is rejected. */
function retryMany(budget: LeasedNodeBudget): number {
  let sent = 0;
  for (; sent < MANY && budget.callsLeft('retry') >= 1; sent++) budget.takeCalls(1);
  return sent;
}

/** Returns the number of calls that are let through. */
async function takeMany(budget: LeasedNodeBudget | undefined, calls: number, urgency?: Urgency) {
  let taken = 0;
  for (let i = 0; i < calls; i++) if (await take(budget, urgency)) taken++;
  return taken;
}

describe('the budget of a node that workers lease from the first process', () => {
  const steps = fc.array(
    fc.record({
      worker: fc.nat(WORKERS - 1),
      calls: fc.constantFrom(1, 1, 1, 3, 40),
      passMs: fc.constantFrom(0, 0, 1, 7, 30, 150, 1_200),
      isPolled: fc.boolean(),
      urgency: fc.constantFrom<Urgency>('firstTry', 'firstTry', 'firstTry', 'retry', 'background'),
    }),
    { minLength: 20, maxLength: 80 },
  );

  it('never exceeds the budget and leaves a fifth to polls, for any order of requests', async () => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.constantFrom(5, 25, 100, 1_000),
        fc.constantFrom(0, 1, 40),
        async (taken, callsPerSecond, latencyMs) => {
          const { machine, budget, workers } = machineOf({ callsPerSecond }, { latencyMs });
          const startMs = performance.now();
          /** Times at which calls were let through, polls included. */
          const atMs: number[] = [];
          for (const { worker, calls, passMs, isPolled, urgency } of taken) {
            const lease = workers[worker];
            for (let i = 0; i < calls; i++) {
              if (i % 10 === 0) await pass(0);
              void lease?.lease(urgency);
              if ((lease?.callsLeft(urgency) ?? 0) < 1) continue;
              lease?.takeCalls(1);
              atMs.push(performance.now());
            }
            if (isPolled && budget.callsLeft('retry') >= 1) {
              budget.takeCalls(1);
              atMs.push(performance.now());
            }
            await pass(passMs);
          }
          expect(machine.leastLeft).toBeGreaterThanOrEqual(Math.floor(callsPerSecond / 5));
          const seconds = (performance.now() - startMs) / 1_000;
          const portions = WORKERS * Math.max(1, callsPerSecond / 10);
          // Calls that retries take in advance are paid before anything else.
          const ahead = taken.some(({ urgency }) => urgency === 'retry') ? 2 * portions : 0;
          expect(atMs.length).toBeLessThanOrEqual(callsPerSecond * (1 + seconds) + ahead);
          for (const [i, from] of atMs.entries()) {
            const within = atMs.findLastIndex((at) => at < from + 1_000) - i + 1;
            expect(within).toBeLessThanOrEqual(2 * callsPerSecond + 1.5 * portions + ahead);
          }
        },
      ),
      { numRuns: sizeInSearch(200, { ordinary: 40 }) },
    );
  });

  it('first tries leave a fifth of the bucket, background requests leave half', async () => {
    for (const [urgency, left] of [
      ['background', 50],
      ['firstTry', 20],
    ] as const) {
      const { budget, workers } = machineOf({ callsPerSecond: 100 });
      let taken = 0;
      for (const worker of workers) taken += await takeMany(worker, 100, urgency);
      // The last leased calls are left to first tries, because background requests do not use them.
      expect(taken).toBeGreaterThanOrEqual(90 - left);
      expect(taken).toBeLessThanOrEqual(100 - left);
      expect(budget.callsLeft('retry')).toBe(left);
      await pass(10);
      expect(await take(workers[0], urgency)).toBe(true);
    }
  });

  it('background requests do not use calls that were leased for first tries', async () => {
    const { worker } = machineOf({ callsPerSecond: 100 });
    const one = worker();
    expect(await take(one, 'background')).toBe(true);
    expect(await takeMany(one, 50)).toBe(50);
    expect(one.callsLeft('firstTry')).toBeGreaterThan(0);
    expect(await take(one, 'background')).toBe(false);
    expect(await take(one)).toBe(true);
  });

  it('a client of a single worker gets the whole client share from the first call on', async () => {
    const { worker } = machineOf({ callsPerSecond: 100 }, { latencyMs: 0 });
    expect(await takeMany(worker(), 200)).toBe(80);
  });

  it('a worker with few calls leases few, because unused calls are lost', async () => {
    const { budget, workers } = machineOf({ callsPerSecond: 100 });
    for (const worker of workers) expect(await take(worker)).toBe(true);
    expect(budget.callsLeft('retry')).toBe(100 - WORKERS);
    // Past demand does not enlarge the lease either.
    await takeMany(workers[0], 30);
    await pass(2_000);
    expect(await take(workers[0])).toBe(true);
    expect(budget.callsLeft('retry')).toBe(99);
  });

  it('a rejected worker does not request a lease again before calls can be available', async () => {
    const { machine, worker } = machineOf({ callsPerSecond: 10 });
    const refused = worker();
    await takeMany(refused, 20);
    const before = machine.asked;
    expect(await takeMany(refused, 1_000)).toBe(0);
    expect(refused.waitMs('firstTry')).toBeGreaterThan(0);
    expect(machine.asked).toBe(before);
    await pass(101);
    expect(await takeMany(refused, 10)).toBe(1);
  });

  it('calls that polls overdraw are paid before clients of any worker continue', async () => {
    const { budget, workers } = machineOf({ callsPerSecond: 10 });
    budget.takeCalls(30);
    for (const worker of workers) expect(await take(worker)).toBe(false);
    await pass(2_000);
    for (const worker of workers) expect(await take(worker)).toBe(false);
    await pass(400);
    expect(await take(workers[0])).toBe(true);
  });

  it('a retry is sent without a lease and reported, and is rejected if polls have no budget either', async () => {
    const { budget, worker } = machineOf({ callsPerSecond: 100 }, { latencyMs: 5 });
    const retrying = worker();
    const sent = retryMany(retrying);
    expect(sent).toBe(10);
    await pass(20);
    expect(budget.callsLeft('retry')).toBeLessThanOrEqual(100 - sent + 2);
    budget.takeCalls(200);
    retrying.takeCalls(1);
    await pass(20);
    expect(retrying.callsLeft('retry')).toBe(0);
    expect(retrying.waitMs('retry')).toBeGreaterThan(900);
  });

  it('a huge response stops its worker immediately, and all others at their next lease', async () => {
    const { budget, workers } = machineOf({ callsPerSecond: 100, bytesPerSecond: 100_000 });
    for (const worker of workers) expect(await takeMany(worker, 4)).toBe(4);
    for (let i = 0; i < 50; i++) workers[0]?.takeBytes(10_000);
    expect(workers[0]?.callsLeft('firstTry')).toBe(0);
    await pass(20);
    expect(budget.waitMs('retry')).toBeGreaterThan(3_000);
    for (const worker of workers) expect(await takeMany(worker, 100)).toBeLessThanOrEqual(10);
    await pass(3_000);
    for (const worker of workers) expect(await take(worker)).toBe(false);
    await pass(1_500);
    for (const worker of workers) expect(await take(worker)).toBe(true);
  });

  it('calls are not limited if only bytes are limited and few bytes are received', async () => {
    const { machine, worker } = machineOf({ bytesPerSecond: 100_000 });
    const one = worker();
    expect(await takeMany(one, 10_000)).toBe(10_000);
    // The lease grows each time.
    expect(machine.asked).toBeLessThan(20);
    // Ten responses, each with a tenth of a second's bytes: each is reported before the next call.
    for (let i = 0; i < 10; i++) {
      one.takeBytes(10_001);
      await take(one);
    }
    expect(await take(one)).toBe(false);
  });

  it('received bytes are reported in batches, including the last ones', async () => {
    const { machine, budget, worker } = machineOf({ bytesPerSecond: 100_000 }, { latencyMs: 30 });
    const one = worker();
    for (let i = 0; i < 1_000; i++) one.takeBytes(100);
    await pass(50);
    for (let i = 0; i < 1_000; i++) one.takeBytes(100);
    await pass(100);
    expect(machine.asked).toBeLessThanOrEqual(3);
    expect(budget.waitMs('retry')).toBeGreaterThan(800);
  });

  it('if the first process hangs, calls are rejected after a second and work again later', async () => {
    const { machine, worker } = machineOf({ callsPerSecond: 100 }, { latencyMs: 3_000 });
    const one = worker();
    const waiting = take(one);
    await pass(1_000);
    expect(await waiting).toBe(false);
    expect(await take(one)).toBe(false);
    expect(one.waitMs('firstTry')).toBeGreaterThan(0);
    // Retries in advance stay limited to a tenth of a second's calls.
    expect(retryMany(one)).toBe(10);
    machine.latencyMs = 0;
    await pass(6_000);
    expect(await take(one)).toBe(true);
  });

  it('a killed worker loses its leased calls and no others', async () => {
    const { budget, workers, worker } = machineOf({ callsPerSecond: 100 });
    const taken = await takeMany(workers[0], 30);
    const leased = 100 - budget.callsLeft('retry');
    expect(leased - taken).toBeLessThanOrEqual(15);
    expect(await takeMany(worker(), 100)).toBe(80 - leased);
  });

  it('a clock jump, as after suspend, grants at most one full bucket', async () => {
    const { workers } = machineOf({ callsPerSecond: 100 });
    for (const worker of workers) await takeMany(worker, 10);
    vi.advanceTimersByTime(3_600_000);
    let taken = 0;
    for (const worker of workers) taken += await takeMany(worker, 200);
    expect(taken).toBe(80);
  });

  it('no call keeps waiting if the first process is gone', async () => {
    const one = new LeasedNodeBudget({ callsPerSecond: 10 }, () => Promise.reject(new Error('gone')));
    expect(await take(one)).toBe(false);
    expect(one.callsLeft('retry')).toBe(0);
  });
});
