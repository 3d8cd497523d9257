import { expect, test } from 'vitest';
import { QueueFullError, SerialQueue } from './serialQueue.ts';

/** A task that the test ends. */
function held<T>(result: T): { readonly task: () => Promise<T>; readonly end: () => void } {
  const { promise, resolve } = deferred<T>();
  return { task: () => promise, end: () => resolve(result) };
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

test('tasks run one after the other in the order of their calls', async () => {
  const queue = new SerialQueue();
  const seen: string[] = [];
  const first = held('a');
  const results = [
    queue.run(async () => {
      seen.push('begins');
      await first.task();
      seen.push('ends');
      return 1;
    }),
    queue.run(() => seen.push('second')),
  ];
  await Promise.resolve().then(() => {});
  expect(seen).toEqual(['begins']);
  first.end();
  expect(await Promise.all(results)).toEqual([1, 3]);
  expect(seen).toEqual(['begins', 'ends', 'second']);
});

test('a failed task rejects for its caller, and the next one runs', async () => {
  const queue = new SerialQueue();
  const thrown = queue.run(() => {
    throw new Error('thrown');
  });
  const rejected = queue.run(() => Promise.reject(new Error('rejected')));
  const next = queue.run(() => 'runs');
  await expect(thrown).rejects.toThrow('thrown');
  await expect(rejected).rejects.toThrow('rejected');
  expect(await next).toBe('runs');
});

test('idle resolves after tasks that were added while waiting', async () => {
  const queue = new SerialQueue();
  await queue.idle();
  const seen: string[] = [];
  queue
    .run(() => {
      void queue.run(() => seen.push('inner'));
      seen.push('outer');
      throw new Error('ignored');
    })
    .catch(() => {});
  expect(queue.size).toBe(1);
  await queue.idle();
  expect(seen).toEqual(['outer', 'inner']);
  expect(queue.size).toBe(0);
});

test('a task is rejected and never runs if the queue is full', async () => {
  const queue = new SerialQueue({ maxWaiting: 1 });
  const running = held('runs');
  const results = [queue.run(running.task), queue.run(() => 'waits')];
  await expect(queue.run(() => expect.unreachable())).rejects.toBeInstanceOf(QueueFullError);
  running.end();
  expect(await Promise.all(results)).toEqual(['runs', 'waits']);
  expect(await queue.run(() => 'room again')).toBe('room again');
});
