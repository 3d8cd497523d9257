import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Entry, LinkedList } from './linkedList.ts';

it('a list keeps its values in order, like an array, and removed entries refer to no others', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 9 })), (steps) => {
      const [list, other] = [new LinkedList<number>(), new LinkedList<number>()];
      const entries: Entry<number>[] = [];
      for (const [value, step] of steps.entries()) {
        const [removed] = step < 5 ? [] : entries.splice(step - 5, 1);
        if (removed === undefined) entries.push(list.append(value));
        else {
          expect([other, list, list].map((from) => from.remove(removed))).toEqual([false, true, false]);
          expect(removed).toEqual({ value: removed.value });
        }
        expect([...list.values()]).toEqual(entries.map((entry) => entry.value));
        expect(list.first).toBe(entries[0]?.value);
        expect(list.isEmpty).toBe(entries.length === 0);
      }
    }),
  );
});

it('values may be added and removed while they are visited', () => {
  const list = new LinkedList<number>();
  const [first, , third] = [1, 2, 3, 4].map((value) => list.append(value));
  const visited: number[] = [];
  for (const value of list.values()) {
    for (const entry of [first, third]) if (entry !== undefined) list.remove(entry);
    list.append(5);
    visited.push(value);
  }
  expect(visited).toEqual([1, 2, 4]);
});
