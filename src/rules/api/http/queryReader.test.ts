import { describe, expect, it } from 'vitest';
import { InvalidRule } from '../../index.ts';
import { type QueryReader, readQuery } from './queryReader.ts';

/** Returns what `parse` reads, or the faults of the query. */
function read<T>(query: object, parse: (reader: QueryReader) => T) {
  try {
    return readQuery({ ...query }, parse);
  } catch (error) {
    return error instanceof InvalidRule ? error.faults : error;
  }
}

describe('a parameter of a query', () => {
  it.each([
    ['1', 1],
    ['50', 50],
    [undefined, undefined],
  ])('is an integer from 1 to a maximum: %o is read as %o', (page, expected) => {
    expect(read({ page }, (reader) => reader.integer('page', 50))).toBe(expected);
  });

  it.each(['0', '51', '-1', '1.5', '', 'abc', '1'.repeat(17)])('is no such integer: %o', (page) => {
    expect(read({ page }, (reader) => reader.integer('page', 50))).toEqual([
      { pointer: '/page', message: `page must be an integer from 1 to 50; got "${page}"` },
    ]);
  });

  it('names the highest integer that can be represented if there is no other maximum', () => {
    expect(read({ page: '9007199254740992' }, (reader) => reader.integer('page'))).toMatchObject([
      { message: 'page must be an integer from 1 to 9007199254740991; got "9007199254740992"' },
    ]);
  });

  it('has one value', () => {
    expect(read({ page: ['1', '2'] }, (reader) => reader.integer('page'))).toEqual([
      {
        pointer: '/page',
        message: 'page must be an integer from 1 to 9007199254740991; got more than one value',
      },
    ]);
  });

  it('is the start or end of a period, which must not end before it starts', () => {
    const query = { since: '2026-11-20T22:10:39Z', until: '2026-11-20T22:10:38Z' };
    expect(read(query, (reader) => reader.period())).toEqual([
      { pointer: '/since', message: 'since must not be after until' },
    ]);
    expect(read({ since: 'now', until: '1' }, (reader) => reader.period())).toMatchObject([
      { message: 'since must be a time such as 2026-11-20T22:10:38Z; got "now"' },
      { message: 'until must be a time such as 2026-11-20T22:10:38Z; got "1"' },
    ]);
  });
});
