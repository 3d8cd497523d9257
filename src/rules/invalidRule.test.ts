import { expect, it } from 'vitest';
import { describeValue, pointerTo } from './invalidRule.ts';

it.each([
  ['text', '"text"'],
  [null, 'null'],
  [['a'], 'an array'],
  [{ a: 1 }, 'an object'],
  [7, '7'],
  [true, 'true'],
  [undefined, 'undefined'],
])('a fault describes the value %o as %s', (value, expected) => {
  expect(describeValue(value)).toBe(expected);
});

it('a fault points to a member, and escapes the characters of a JSON pointer', () => {
  expect(pointerTo('a~b/c')).toBe('/a~0b~1c');
});
