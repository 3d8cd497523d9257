import { expect, it } from 'vitest';
import { depthOf } from './depthOf.ts';

it('the depth of a value is the number of nested objects and lists, counted up to a maximum', () => {
  const values = [7, null, {}, [], { a: 1, b: [{}] }, [[[[[[[[]]]]]]]]];
  expect(values.map((value) => depthOf(value, 4))).toEqual([0, 0, 1, 1, 3, 6]);
});
