import { expect, it } from 'vitest';
import { ClientPace } from './clientPace.ts';

const BURST_MS = 50;
const SHARE = 0.25;
const WORK_MS = 2;

/** A pace with a clock that only work and `passUntil` advance. `run`: the scheduler. */
function paced(run = (_: unknown, work: () => void): void => work()) {
  let nowMs = 0;
  const timers: { readonly atMs: number; readonly work: () => void }[] = [];
  const pace = new ClientPace(
    { run },
    { nowMs: () => nowMs, runAfter: (delayMs, work) => void timers.push({ atMs: nowMs + delayMs, work }) },
  );
  const done: Record<string, number[]> = { greedy: [], polite: [] };
  return {
    pace,
    done,
    nowMs: () => nowMs,
    run: (client: string, number: number) =>
      pace.run(client, () => {
        nowMs += WORK_MS;
        done[client]?.push(number);
      }),
    passUntil(isOver: () => boolean) {
      while (!isOver()) {
        const next = timers.sort((one, other) => one.atMs - other.atMs).shift();
        if (next === undefined) throw new Error('nothing waits');
        nowMs = Math.max(nowMs, next.atMs);
        next.work();
      }
    },
  };
}

it('a client uses its burst at once, then its share of the time; its work keeps its order', () => {
  const { run, done, nowMs, passUntil } = paced();
  const count = 200;
  for (let i = 0; i < count; i++) run('greedy', i);
  const [inBurst, all] = [done.greedy?.length ?? 0, [...Array(count).keys()]];
  expect(inBurst * WORK_MS).toBeGreaterThanOrEqual(BURST_MS);
  expect(inBurst * WORK_MS).toBeLessThanOrEqual((BURST_MS + WORK_MS) / (1 - SHARE));
  passUntil(() => done.greedy?.length === count);
  expect(done.greedy).toEqual(all);
  const allowedMs = BURST_MS + nowMs() * SHARE;
  expect(count * WORK_MS).toBeLessThanOrEqual(allowedMs + WORK_MS);
  expect(count * WORK_MS).toBeGreaterThan(allowedMs - BURST_MS);
});

it('a client does not wait while another one has used its share', () => {
  const { run, done } = paced();
  for (let i = 0; i < 100; i++) run('greedy', i);
  const before = done.greedy?.length;
  run('polite', 1);
  expect([done.polite, done.greedy?.length]).toEqual([[1], before]);
});

it('clients that used no time lately are forgotten', () => {
  const { pace, run, passUntil, done } = paced();
  run('polite', 1);
  for (let i = 0; i < 100; i++) run('greedy', i);
  passUntil(() => done.greedy?.length === 100);
  pace.sweep();
  expect(pace.size).toBe(1);
});

it('work that waits for the scheduler uses the share of the client, too', () => {
  const scheduled: (() => void)[] = [];
  const { run, done, passUntil } = paced((_, work) => void scheduled.push(work));
  for (let i = 0; i < 200; i++) run('greedy', i);
  expect(scheduled).toHaveLength(200);
  const runScheduled = (): void => {
    for (const work of scheduled.splice(0)) work();
  };
  runScheduled();
  expect(done.greedy?.length).toBeLessThanOrEqual((BURST_MS + WORK_MS) / (1 - SHARE) / WORK_MS + 1);
  passUntil(() => {
    runScheduled();
    return done.greedy?.length === 200;
  });
  expect(done.greedy).toEqual([...Array(200).keys()]);
});
