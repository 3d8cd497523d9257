import { describe, expect, it } from 'vitest';
import { OwnFilterMemory } from '../../ethereum/gateway/index.ts';
import type { ToPrimary } from './followNetwork.ts';
import { MemoryOfWorker, RemoteFilterMemory } from './subscriptionMemory.ts';

/** A worker's memory, whose messages arrive at once. */
function workerOf(memory: OwnFilterMemory) {
  const ofWorker = new MemoryOfWorker(memory);
  const primary: Pick<ToPrimary, 'ask' | 'tell'> = {
    ask: async (_name, body) => ofWorker.take(body as never) as never, // a worker asks nothing else here
    tell: (_name, body) => ofWorker.give(body as never),
  };
  return { ofWorker, remote: new RemoteFilterMemory(primary) };
}

describe('the memory of subscriptions', () => {
  it('of one address is counted over all workers', async () => {
    const memory = new OwnFilterMemory({ limits: { perClient: 100, total: 1_000 } });
    const [one, other] = [workerOf(memory), workerOf(memory)];
    const release = await one.remote.take('a', 60);
    await expect(other.remote.take('a', 60)).rejects.toMatchObject({ code: -32005, data: { limit: 100 } });
    release();
    release();
    await other.remote.take('a', 60);
    expect(memory.bytes).toBe(60);
  });

  it('of a worker that ended is free', async () => {
    const memory = new OwnFilterMemory({ limits: { perClient: 100, total: 1_000 } });
    const [one, other] = [workerOf(memory), workerOf(memory)];
    await one.remote.take('a', 60);
    (await one.remote.take('b', 20))();
    await other.remote.take('a', 30);
    one.ofWorker.giveAll();
    expect(memory.bytes).toBe(30);
  });
});
