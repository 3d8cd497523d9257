import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { CommitQueue } from './commitQueue.ts';
import type { Connections } from './connection/connections.ts';

it('accounts take turns, and the changes of each keep their order', async () => {
  let running = 0;
  const connections = {
    assertReachable: () => undefined,
    async withRetries() {
      expect(++running).toBe(1);
      await nextTurn();
      running--;
      return () => undefined;
    },
  } as unknown as Connections; // the only methods that are called
  const queue = new CommitQueue({}, connections);
  const done: string[] = [];
  const change = (account: string, number: number): Promise<unknown> =>
    queue.run(account, async () => undefined).then(() => done.push(`${account} ${number}`));
  for (let i = 1; i <= 100; i++) void change('greedy', i);
  await Promise.all([change('polite', 1), change('polite', 2)]);
  expect(done).toEqual(['greedy 1', 'greedy 2', 'polite 1', 'greedy 3', 'polite 2']);
  await queue.idle();
  expect(done).toHaveLength(102);
});
