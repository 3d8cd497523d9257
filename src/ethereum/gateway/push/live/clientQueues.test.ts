import { expect, it } from 'vitest';
import { ClientQueues } from './clientQueues.ts';

it('yields one item of each client in each round, in the order in which they were added', () => {
  const queues = new ClientQueues<{ name: string }>();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queues.add(name.slice(0, 1), { name });
  expect(queues.size).toBe(6);
  expect([...queues.drain()].map(({ name }) => name)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  expect([queues.size, ...queues.drain()]).toEqual([0]);
});
