import { describe, expect, it } from 'vitest';
import { RemoteSlots } from './remoteSlots.ts';
import { Slots } from './slots.ts';

const A = { address: '192.0.2.1' };
const B = { address: '192.0.2.2' };
const LIMITS = { total: 2, perClient: 1 };
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Slots of one owner, as three other processes use them. */
function shared() {
  const owner = new Slots(LIMITS);
  const running: string[] = [];
  const processes = Array.from(
    { length: 3 },
    () =>
      new RemoteSlots(LIMITS, (client) => {
        let end = (): void => undefined;
        const isFree = new Promise<void>((resolve) => {
          end = owner.take(client, () => resolve());
        });
        return { isFree, end };
      }),
  );
  const take = (process: number, client: typeof A, name: string) => {
    const end = processes[process]?.take(client, () => running.push(name)) ?? expect.unreachable();
    return () => {
      end();
      if (running.includes(name)) running.splice(running.indexOf(name), 1);
    };
  };
  return { running, take, processes };
}

describe('slots that several processes share', () => {
  it('limit the tasks of all processes, per client and in total', async () => {
    const { running, take } = shared();
    const endFirst = take(0, A, 'first of A');
    take(1, A, 'second of A');
    take(1, B, 'first of B');
    take(2, { address: '192.0.2.3' }, 'third client');
    await settle();
    expect(running).toEqual(['first of A', 'first of B']);
    endFirst();
    await settle();
    expect(running).toHaveLength(2);
    expect(running).toContain('first of B');
  });

  it('are free again after a task ended before it started, and never start that task', async () => {
    const { running, take, processes } = shared();
    const ends = [take(0, A, 'a'), take(1, A, 'b'), take(1, A, 'c')];
    await settle();
    for (const end of ends) end();
    await settle();
    expect(running).toEqual([]);
    expect(processes.map((one) => one.isFreeFor(A))).toEqual([true, true, true]);
    take(2, A, 'd');
    await settle();
    expect(running).toEqual(['d']);
  });
});
