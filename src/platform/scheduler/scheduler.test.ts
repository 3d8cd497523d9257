import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Clock, Scheduler } from './scheduler.ts';

const A = { address: '192.0.2.1' };
const B = { address: '192.0.2.2' };
const SLICE_MS = 2;
const ITERATIONS = 1_000;

/** A scheduler with a clock that only work advances, and a log of that work. */
function schedule({ sharesProcessors = true } = {}) {
  let nowMs = 0;
  let interruptedMs = 0;
  let pausedMs = 0;
  const log: string[] = [];
  const usedMicroseconds = () => 1_000 * (nowMs - interruptedMs);
  const clock: Clock = {
    nowMs: () => nowMs,
    usedMicroseconds,
    idleMs: () => pausedMs,
    runAfter(delayMs, work) {
      const timer = setImmediate(() => {
        pausedMs += delayMs;
        nowMs += delayMs;
        work();
      });
      return () => clearImmediate(timer);
    },
  };
  const scheduler = new Scheduler({ sharesProcessors, clock });
  return {
    scheduler,
    log,
    elapsedMs: () => nowMs,
    pausedMs: () => pausedMs,
    pass: (ms: number) => {
      nowMs += ms;
    },
    /** Lets the event loop wait for events. */
    idle: (ms: number) => {
      nowMs += ms;
      pausedMs += ms;
    },
    /** Returns work of a duration. */
    work: (name: string, ms: number) => () => {
      nowMs += ms;
      log.push(name);
    },
    /** Lets another process run. */
    interrupt: (ms: number) => {
      nowMs += ms;
      interruptedMs += ms;
    },
    async finish(count: number) {
      for (let i = 0; log.length < count && i < ITERATIONS; i++) await nextIteration();
      expect(log).toHaveLength(count);
    },
  };
}

describe('the scheduler', () => {
  it('runs work at once while no other work waits', () => {
    const { scheduler, log, work } = schedule();
    scheduler.run(A, work('a', 1));
    expect(log).toEqual(['a']);
    expect(scheduler.resultOf(B, () => 7)).toBe(7);
  });

  it('defers work after a time slice, until I/O was polled', async () => {
    const { scheduler, log, work, finish } = schedule();
    scheduler.run(A, work('first', SLICE_MS));
    scheduler.run(A, work('second', 1));
    const result = scheduler.resultOf(A, () => 7);
    expect(log).toEqual(['first']);
    expect(result).toBeInstanceOf(Promise);
    await finish(2);
    expect(await result).toBe(7);
    scheduler.run(A, work('third', 0));
    expect(log).toEqual(['first', 'second', 'third']);
  });

  it('runs the client next that used the least time', async () => {
    const { scheduler, log, work, finish } = schedule();
    for (let i = 0; i < 100; i++) scheduler.defer(A, work('a', 1));
    for (let i = 0; i < 2; i++) scheduler.defer(B, work('b', 1));
    await finish(102);
    expect(log.slice(0, 5)).toEqual(['a', 'b', 'a', 'b', 'a']);
  });

  it('alternates two clients by their time, not by the number of their tasks', async () => {
    const { scheduler, log, work, finish } = schedule();
    scheduler.run(A, work('a', SLICE_MS));
    for (let i = 0; i < 200; i++) scheduler.run(A, work('a', 1));
    for (let i = 0; i < 20; i++) scheduler.run(B, work('b', 1));
    await finish(221);
    const last = log.lastIndexOf('b');
    expect(log.slice(0, last).filter((name) => name === 'a').length).toBeLessThanOrEqual(25);
  });

  it('does not count the time for which another process interrupted a turn', async () => {
    const { scheduler, log, work, interrupt, finish } = schedule();
    scheduler.defer(A, () => {
      interrupt(50);
      work('a', 1)();
    });
    for (let i = 0; i < 4; i++) scheduler.defer(B, work('b', 2));
    for (let i = 0; i < 4; i++) scheduler.defer(A, work('a', 1));
    await finish(9);
    expect(log.slice(0, 6)).toEqual(['a', 'b', 'a', 'b', 'a', 'a']);
  });

  it.each([
    ['keys', { ...A, keyId: 'k' }, { ...B, keyId: 'k' }],
    ['networks of IPv6', { address: '2001:db8:0:1::/64' }, { address: '2001:db8:0:2::/64' }],
  ])('counts %s', async (_name, greedy, mate) => {
    const { scheduler, log, work, finish } = schedule();
    for (let i = 0; i < 3; i++) scheduler.defer(greedy, work('greedy', 1));
    scheduler.defer({ address: '192.0.2.3' }, work('other', 1));
    await finish(2);
    scheduler.defer(mate, work('mate', 1));
    scheduler.defer({ address: '192.0.2.4' }, work('another', 1));
    await finish(6);
    expect(log.indexOf('another')).toBeLessThan(log.indexOf('mate'));
  });

  it('forgets the time of a client after a second', async () => {
    const { scheduler, log, work, pass, finish } = schedule();
    scheduler.defer(A, work('a', 100));
    scheduler.defer(B, work('b', 1));
    await finish(2);
    pass(1_000);
    for (let i = 0; i < 2; i++) {
      scheduler.defer(A, work('a', 1));
      scheduler.defer(B, work('b', 1));
    }
    await finish(6);
    expect(log.slice(2)).toEqual(['a', 'b', 'a', 'b']);
  });

  it('forgets the time of a client while it waits', async () => {
    const { scheduler, log, work, finish } = schedule();
    scheduler.defer(A, work('a', 20));
    scheduler.defer(B, work('b', 1));
    await finish(2);
    scheduler.defer(A, work('a', 1));
    let newcomers = 0;
    // Another client arrives before each turn.
    const arrive = (): void => {
      if (newcomers === 200) return;
      scheduler.defer({ address: `192.0.3.${newcomers++}` }, () => {
        work('new', 10)();
        arrive();
      });
    };
    arrive();
    await finish(203);
    expect(log.lastIndexOf('a')).toBeLessThan(150);
  });

  it('has short turns for many clients', async () => {
    const { scheduler, log, work, finish } = schedule();
    const clients = 10;
    const steps = async (address: string): Promise<void> => {
      for (let i = 0; i < 20; i++) {
        while (scheduler.isExpired) await scheduler.turn({ address });
        work(address, 0.1)();
      }
    };
    scheduler.run({ address: '192.0.3.1' }, work('first', SLICE_MS));
    for (let i = 0; i < clients; i++) void steps(`192.0.2.${i}`);
    await finish(1 + 20 * clients);
    expect(new Set(log.slice(1, 1 + 3 * clients)).size).toBe(clients);
  });

  it('polls I/O after each time slice of waiting work', async () => {
    const { scheduler, work, log, finish } = schedule();
    scheduler.run(A, work('a', SLICE_MS));
    for (let i = 0; i < 10; i++) scheduler.run(A, work('a', SLICE_MS));
    await nextIteration();
    expect(log.length).toBeLessThanOrEqual(2);
    await finish(11);
  });

  it('charges work that continues after an awaited turn, and ends its slice in time', async () => {
    const { scheduler, work, log, finish } = schedule();
    const steps = async (client: typeof A, name: string, count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        while (scheduler.isExpired) await scheduler.turn(client);
        work(name, 1)();
      }
    };
    scheduler.run(A, work('a', SLICE_MS));
    const all = [...Array.from({ length: 10 }, () => steps(A, 'a', 10)), steps(B, 'b', 10)];
    await Promise.all(all);
    await finish(111);
    expect(log.lastIndexOf('b')).toBeLessThan(30);
  });

  it('counts work that continues after promises of work that ran at once', async () => {
    const { scheduler, work, log, finish } = schedule();
    scheduler.run(A, () => void Promise.resolve().then(work('a', SLICE_MS)));
    await Promise.resolve();
    scheduler.run(B, work('b', 1));
    expect(log).toEqual(['a']);
    await finish(2);
    scheduler.defer(A, work('a', 1));
    scheduler.defer(B, work('b', 1));
    await finish(4);
    expect(log).toEqual(['a', 'b', 'b', 'a']);
  });

  it('rejects with the error of waiting work, and continues with other work', async () => {
    const { scheduler, work, finish } = schedule();
    scheduler.run(A, work('a', SLICE_MS));
    const failed = scheduler.resultOf(A, () => {
      throw new Error('failed');
    });
    scheduler.run(A, work('b', 1));
    await expect(failed).rejects.toThrow('failed');
    await finish(2);
  });
});

describe('a heavy client', () => {
  const TASKS = 400;
  const HEAVY_MS = 50;

  it('leaves half of the time free while another client is active', async () => {
    const { scheduler, work, elapsedMs, finish } = schedule();
    for (let i = 0; i < TASKS; i++)
      scheduler.run(A, () => {
        work('a', 1)();
        scheduler.charge(B, 0.1);
      });
    await finish(TASKS);
    expect(elapsedMs()).toBeGreaterThan(2 * TASKS - 2 * HEAVY_MS);
    expect(elapsedMs()).toBeLessThan(2 * TASKS);
  });

  it('is charged for all of its work', async () => {
    const { scheduler, log, work, finish } = schedule();
    const C = { address: '192.0.2.3' };
    scheduler.charge(C, 4 * HEAVY_MS);
    for (let i = 0; i < 5 * HEAVY_MS; i++) scheduler.defer(A, work('a', 1));
    scheduler.charge(B, 2 * HEAVY_MS);
    for (let i = 0; i < 2; i++) scheduler.defer(B, work('b', 1));
    scheduler.defer(C, work('c', 1));
    await finish(5 * HEAVY_MS + 3);
    expect(log.indexOf('b')).toBeGreaterThanOrEqual(2 * HEAVY_MS - 2);
    expect(log.indexOf('b')).toBeLessThan(2 * HEAVY_MS + 2);
    expect(log.indexOf('c')).toBeLessThan(4 * HEAVY_MS + 4);
  });

  it('may use all of the time while no other client is active', async () => {
    const { scheduler, work, elapsedMs, finish } = schedule();
    for (let i = 0; i < TASKS; i++) scheduler.run(A, work('a', 1));
    await finish(TASKS);
    expect(elapsedMs()).toBe(TASKS);
  });

  it('pauses also for work that it is charged for', async () => {
    const { scheduler, log, elapsedMs, pausedMs, pass, finish } = schedule();
    const fetchBlock = (): void => {
      log.push('a');
      pass(0.5);
      // The response arrives later.
      setImmediate(() => pass(1.5));
      scheduler.charge(A, 1.5);
      scheduler.charge(B, 0.1);
    };
    for (let i = 0; i < TASKS; i++) scheduler.defer(A, fetchBlock);
    await finish(TASKS);
    expect(pausedMs()).toBeGreaterThan(0.45 * elapsedMs());
    expect(pausedMs()).toBeLessThan(0.55 * elapsedMs());
  });

  it('may use all of the time if no other process needs the processors', async () => {
    const { scheduler, log, elapsedMs, work, finish } = schedule({ sharesProcessors: false });
    for (let i = 0; i < TASKS; i++) for (const client of [A, B]) scheduler.run(client, work('work', 1));
    await finish(2 * TASKS);
    expect([log.length, elapsedMs()]).toEqual([2 * TASKS, 2 * TASKS]);
  });

  it('may use all of the time next to a health check', async () => {
    const { scheduler, work, elapsedMs, finish } = schedule();
    for (let i = 0; i < TASKS; i++) scheduler.run(A, work('a', 1));
    scheduler.charge(B, 1.5);
    await finish(TASKS);
    expect(elapsedMs()).toBe(TASKS);
  });

  it('is charged for work of other threads', async () => {
    const { scheduler, log, work, finish } = schedule();
    scheduler.charge(A, 1);
    scheduler.defer(A, work('a', 1));
    scheduler.defer(B, work('b', 1));
    await finish(2);
    expect(log).toEqual(['b', 'a']);
  });

  it('does not delay another client by its pause', async () => {
    const { scheduler, log, work, pausedMs, finish } = schedule();
    scheduler.run(B, work('b', 5));
    scheduler.defer(A, work('a', 100));
    await finish(2);
    for (let i = 0; i < 10; i++) scheduler.defer(A, work('a', 1));
    scheduler.defer(B, work('b', 1));
    await finish(3);
    expect([log.at(-1), pausedMs()]).toEqual(['b', 0]);
    await finish(13);
  });

  it('has a whole pause also after another client ended an earlier one', async () => {
    const { scheduler, work, idle, pausedMs, finish } = schedule();
    scheduler.charge(B, 5);
    scheduler.charge(A, 2 * HEAVY_MS);
    scheduler.defer(A, work('a', 1));
    idle(4 * HEAVY_MS);
    scheduler.charge(A, 10);
    scheduler.defer(B, work('b', 1));
    await finish(2);
    expect(pausedMs()).toBe(4 * HEAVY_MS + 10);
  });

  it('has turns while other clients interrupt its pauses', async () => {
    const { scheduler, log, work, finish } = schedule();
    for (let i = 0; i < 100; i++) scheduler.defer(A, work('a', 1));
    let clients = 0;
    const arrive = (): void => {
      if (clients === 300) return;
      const address = `198.51.100.${clients++}`;
      scheduler.defer({ address }, work('other', 1));
      setImmediate(arrive);
    };
    arrive();
    await finish(400);
    expect(log.slice(100, 350).filter((name) => name === 'a').length).toBeGreaterThan(4);
  });
});
