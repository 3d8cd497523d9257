import { expect, it } from 'vitest';
import { countUpTo, listUpTo } from './readJson.ts';
import { TraceFormatError } from './traceFormatError.ts';

const place = { what: 'trace', index: 0 };

it('counts and lists are accepted up to their maximum, which is included', () => {
  const count = (value: unknown) => countUpTo(8)(value, place, 'count');
  for (const valid of [0, 1, 8]) expect(count(valid)).toBe(valid);
  for (const wrong of [-1, 9, 1.5, '1', undefined]) expect(() => count(wrong)).toThrow(TraceFormatError);
  const list = (value: unknown) => listUpTo(2)(value, place, 'list');
  for (const valid of [[], [1, 2]]) expect(list(valid)).toBe(valid);
  for (const wrong of [[1, 2, 3], {}, 'ab']) expect(() => list(wrong)).toThrow(TraceFormatError);
});
