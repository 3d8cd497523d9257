import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WorkBudget } from '../history/reader.ts';
import { listOf } from './list.ts';
import { PairIntersections } from './pairIntersections.ts';

/** Final positions of a list; a search may use any prefix of them. */
const anyPositions = (): fc.Arbitrary<Uint32Array> =>
  fc.uniqueArray(fc.nat(60), { maxLength: 40 }).map((some) => Uint32Array.from(some).sort());

test('intersections of growing lists are correct for any prefixes that searches have', () => {
  const anyLengths = fc.array(fc.tuple(fc.nat(40), fc.nat(40)), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(anyPositions(), anyPositions(), anyLengths, (from, to, lengths) => {
      let id = 2;
      const pairs = new PairIntersections(1_000, () => ++id);
      for (const [fromLength, toLength] of lengths) {
        const [a, b] = [from.subarray(0, fromLength), to.subarray(0, toLength)];
        const found = [...pairs.of(listOf(1, a), listOf(2, b), new WorkBudget()).from(0)];
        const inBoth = [...from].filter((position) => to.includes(position));
        // All common positions within both prefixes, and only common positions.
        const upTo = Math.min(a.at(-1) ?? -1, b.at(-1) ?? -1);
        expect(found).toEqual(inBoth.slice(0, found.length));
        expect(found.length).toBeGreaterThanOrEqual(inBoth.filter((position) => position <= upTo).length);
      }
    }),
  );
});
