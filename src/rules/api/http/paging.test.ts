import { describe, expect, it } from 'vitest';
import { InvalidRule } from '../../index.ts';
import { pageOf, readPageRequest, slicePage } from './paging.ts';

describe('a page', () => {
  it('is the first in ascending order by default, and each wrong parameter is named', () => {
    expect(readPageRequest({})).toMatchObject({ page: 1, order: 'created_on', descending: false });
    const wrong = { page: '0', per_page: 'x', order: 'size', direction: 'up' };
    for (const [name, value] of Object.entries(wrong)) {
      const faultsOf = () => {
        try {
          readPageRequest({ [name]: value });
        } catch (error) {
          return error instanceof InvalidRule ? error.faults : error;
        }
        return 'no fault';
      };
      expect(faultsOf()).toEqual([
        { pointer: `/${name}`, message: expect.stringMatching(`^${name} must be .*; got "${value}"`) },
      ]);
    }
  });

  it('contains the items in order of creation, or of the member to sort by', () => {
    const items = ['b', 'c', 'a'].map((label) => ({ label, created_on: `2026-11-2${'bca'.indexOf(label)}` }));
    const labels = (order: 'label' | 'created_on', descending: boolean) =>
      pageOf(items, { page: 1, perPage: 9, order, descending }).result.map(({ label }) => label);
    expect([labels('created_on', false), labels('created_on', true)]).toEqual([
      ['b', 'c', 'a'],
      ['a', 'c', 'b'],
    ]);
    expect([labels('label', false), labels('label', true)]).toEqual([
      ['a', 'b', 'c'],
      ['c', 'b', 'a'],
    ]);
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
