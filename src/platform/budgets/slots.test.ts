import { describe, expect, it } from 'vitest';
import type { BudgetClient } from './budget.ts';
import { Slots } from './slots.ts';

const A = { address: '192.0.2.1' };
const B = { address: '192.0.2.2' };
const C = { address: '192.0.2.3' };

/** Slots, the names of the started tasks, and a function that ends a task. */
function slotsOf(perClient: number, total: number) {
  const slots = new Slots({ perClient, total });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    started,
    take: (client: BudgetClient, name: string) =>
      ends.set(
        name,
        slots.take(client, () => started.push(name)),
      ),
    end: (name: string) => ends.get(name)?.(),
  };
}

describe('slots', () => {
  it('let a client run its number of tasks, in order, and no other client waits for it', () => {
    const { started, take, end } = slotsOf(2, Number.POSITIVE_INFINITY);
    for (const name of ['a1', 'a2', 'a3', 'a4']) take(A, name);
    take(B, 'b1');
    expect(started).toEqual(['a1', 'a2', 'b1']);
    end('a2');
    end('a2');
    expect(started).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  it('give clients their turns if the total is reached', () => {
    const { started, take, end } = slotsOf(1, 2);
    for (let i = 0; i < 3; i++)
      for (const [client, name] of [
        [A, 'a'],
        [B, 'b'],
      ] as const)
        take(client, `${name}${i}`);
    take(C, 'c0');
    expect(started).toEqual(['a0', 'b0']);
    for (const name of ['a0', 'b0', 'a1', 'c0']) end(name);
    expect(started).toEqual(['a0', 'b0', 'a1', 'b1', 'c0', 'a2']);
  });

  it('count a key from all addresses', () => {
    const { started, take, end } = slotsOf(1, Number.POSITIVE_INFINITY);
    take({ ...A, keyId: 'k' }, 'a');
    take({ ...B, keyId: 'k' }, 'b');
    take(B, 'without key');
    expect(started).toEqual(['a', 'without key']);
    end('a');
    end('without key');
    expect(started).toEqual(['a', 'without key', 'b']);
  });

  it('skip tasks that ended while they waited', () => {
    const { started, take, end } = slotsOf(1, 1);
    for (const name of ['a1', 'a2', 'a3']) take(A, name);
    end('a2');
    end('a1');
    expect(started).toEqual(['a1', 'a3']);
    end('a3');
    take(B, 'b1');
    expect(started).toEqual(['a1', 'a3', 'b1']);
  });
});
