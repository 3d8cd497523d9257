import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WorkLeft } from '../history/reader.ts';
import { listOf } from './list.ts';
import { PairLists } from './pairLists.ts';

/** Positions of a list in the end, of which a search may hold any beginning. */
const anyPositions = (): fc.Arbitrary<Uint32Array> =>
  fc.uniqueArray(fc.nat(60), { maxLength: 40 }).map((some) => Uint32Array.from(some).sort());

test('lists that grow are paired rightly, whatever of them each search holds', () => {
  const anyLengths = fc.array(fc.tuple(fc.nat(40), fc.nat(40)), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(anyPositions(), anyPositions(), anyLengths, (from, to, lengths) => {
      let id = 2;
      const pairs = new PairLists(1_000, () => ++id);
      for (const [fromLength, toLength] of lengths) {
        const [a, b] = [from.subarray(0, fromLength), to.subarray(0, toLength)];
        const found = [...pairs.of(listOf(1, a), listOf(2, b), new WorkLeft()).from(0)];
        const inBoth = [...from].filter((position) => to.includes(position));
        // All that both have as far as they are held, and nothing that is not in both.
        const upTo = Math.min(a.at(-1) ?? -1, b.at(-1) ?? -1);
        expect(found).toEqual(inBoth.slice(0, found.length));
        expect(found.length).toBeGreaterThanOrEqual(inBoth.filter((position) => position <= upTo).length);
      }
    }),
  );
});
