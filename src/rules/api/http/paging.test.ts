import { describe, expect, it } from 'vitest';
import { readInteger, slicePage } from './paging.ts';

describe('a page', () => {
  it.each([
    [undefined, 7],
    ['1', 1],
    ['50', 50],
    ['0', undefined],
    ['51', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['', undefined],
    ['abc', undefined],
    [['1', '2'], undefined],
    ['1'.repeat(17), undefined],
  ])('has a number that is an integer from 1 to a maximum: %o is read as %o', (value, expected) => {
    expect(readInteger(value, 7, 50)).toBe(expected);
  });

  it('contains its part of the items, and the last page the rest', () => {
    const items = [1, 2, 3, 4, 5];
    expect(slicePage(items, { page: 1, perPage: 2 }).result).toEqual([1, 2]);
    expect(slicePage(items, { page: 3, perPage: 2 })).toEqual({
      result: [5],
      resultInfo: { page: 3, per_page: 2, count: 1, total_count: 5, total_pages: 3 },
    });
    expect(slicePage(items, { page: 4, perPage: 2 }).result).toEqual([]);
  });
});
