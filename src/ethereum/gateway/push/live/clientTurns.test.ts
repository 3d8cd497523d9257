import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ClientTurns } from './clientTurns.ts';

interface Item {
  readonly client: string;
  readonly number: number;
  readonly steps: number;
}

/** Turns whose work appends its item, as `client number`, to a list in each step. */
function turnsOf(items: readonly string[] = [], steps = 1) {
  const log: string[] = [];
  const finished: string[] = [];
  const name = ({ client, number }: Item): string => `${client}${number}`;
  const turns = new ClientTurns<string, Item>(
    function* (item) {
      for (let i = 1; i <= item.steps; i++) {
        log.push(name(item));
        yield;
      }
    },
    (item) => void finished.push(name(item)),
  );
  for (const item of items) {
    const client = item.slice(0, 1);
    turns.add(client, { client, number: Number(item.slice(1)), steps });
  }
  return { turns, log, finished };
}

it('takes one item of each client in each round, in the order in which they were added', () => {
  const { turns, log, finished } = turnsOf(['a1', 'a2', 'a3', 'b1', 'c1', 'c2']);
  expect(turns.size).toBe(6);
  while (turns.step());
  expect(log).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  expect([turns.size, finished]).toEqual([0, log]);
});

it('does one step of an item in each turn', () => {
  const { turns, log, finished } = turnsOf(['a1', 'a2', 'b1'], 2);
  for (let i = 0; i < 5; i++) turns.step();
  expect([log, finished]).toEqual([['a1', 'b1', 'a1', 'b1', 'a2'], ['a1']]);
  while (turns.step());
  expect(log).toEqual(['a1', 'b1', 'a1', 'b1', 'a2', 'a2']);
});

it('serves a client that is added later in the same round', () => {
  const { turns, log } = turnsOf(['a1', 'a2', 'a3']);
  turns.step();
  turns.add('b', { client: 'b', number: 1, steps: 1 });
  while (turns.step());
  expect(log).toEqual(['a1', 'b1', 'a2', 'a3']);
});

it('lets work remove its own client, or another one', () => {
  for (const [removed, rest] of [
    ['a', ['b1', 'c1']],
    ['c', ['b1', 'a2']],
  ] as const) {
    const log: string[] = [];
    const turns = new ClientTurns<string, string>(function* (item) {
      log.push(item);
      if (item === 'a1') turns.remove(removed);
      yield;
    });
    for (const item of ['a1', 'a2', 'b1', 'c1']) turns.add(item.slice(0, 1), item);
    while (turns.step());
    expect(log[0]).toBe('a1');
    expect(new Set(log.slice(1))).toEqual(new Set(rest));
    expect(turns.size).toBe(0);
  }
});

it('keeps the items of each client in order, between additions and removals of others', () => {
  const client = fc.constantFrom('a', 'b', 'c');
  const action = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ add: client, count: fc.nat(1_500), steps: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 4, arbitrary: fc.record({ run: fc.nat(4_000) }) },
    { weight: 1, arbitrary: fc.record({ remove: client }) },
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 20 }), (actions) => {
      const waiting = new Map<string, number[]>([...'abc'].map((name) => [name, []]));
      const turns = new ClientTurns<string, Item>(
        function* ({ steps }) {
          for (let i = 0; i < steps; i++) yield;
        },
        (item) => expect(item.number).toBe(waiting.get(item.client)?.shift()),
      );
      let number = 0;
      for (const one of actions) {
        if ('add' in one)
          for (let i = 0; i < one.count; i++) {
            turns.add(one.add, { client: one.add, number, steps: one.steps });
            waiting.get(one.add)?.push(number++);
          }
        else if ('remove' in one)
          expect(turns.remove(one.remove).map((item) => item.number)).toEqual(
            waiting.get(one.remove)?.splice(0),
          );
        else for (let i = 0; i < one.run && turns.step(); i++);
        const lengths = [...waiting.values()].map(({ length }) => length);
        expect(turns.size).toBe(lengths.reduce((sum, length) => sum + length));
        const largest = turns.largest();
        if (largest === undefined) expect(turns.size).toBe(0);
        else expect(waiting.get(largest.client)).toHaveLength(Math.max(...lengths));
        expect(largest?.first.number).toBe(largest && waiting.get(largest.client)?.[0]);
      }
      while (turns.step());
      expect(turns.size).toBe(0);
    }),
    { numRuns: 50 },
  );
});
