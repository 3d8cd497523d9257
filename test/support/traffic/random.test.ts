import { expect, test } from 'vitest';
import { createRandom } from './random.ts';

test('the same seed returns the same numbers, and another seed returns others', () => {
  const draw = (seed: number) => {
    const random = createRandom(seed);
    return [random.hex(16), random.below(1_000_000), random.chance(0.5), random.pick(['a', 'b', 'c'])];
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

test('numbers are below their bound and include all values', () => {
  const random = createRandom(1);
  expect(new Set(Array.from({ length: 200 }, () => random.below(6)))).toEqual(new Set([0, 1, 2, 3, 4, 5]));
});

test('the numbers equal those of mulberry32', () => {
  const random = createRandom(0);
  expect([random.below(2 ** 32), random.below(2 ** 32), random.below(2 ** 32)]).toEqual([
    1144304738, 1416247, 958946056,
  ]);
});
