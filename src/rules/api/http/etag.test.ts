import { describe, expect, it } from 'vitest';
import { checkCollectionIfMatch, checkIfMatch, etagOf, matchesIfNoneMatch } from './etag.ts';

const stored = { modified_on: '2026-11-20T22:10:38.762503+00:00' };
const tag = etagOf(stored);

describe('If-Match', () => {
  it.each([undefined, '*', ' * ', tag, `"other", ${tag}`])('%s permits a change', (header) => {
    expect(() => checkIfMatch(header, stored)).not.toThrow();
  });

  it.each(['"other"', `W/${tag}`, tag.slice(1), `${tag}, invalid`, ''])('%s prevents a change', (header) => {
    expect(() => checkIfMatch(header, stored)).toThrow('The stored version has changed');
  });

  it('permits the deletion of a collection only if it is absent or *', () => {
    for (const header of [undefined, '*', ' * ']) expect(() => checkCollectionIfMatch(header)).not.toThrow();
    for (const header of [tag, ''])
      expect(() => checkCollectionIfMatch(header)).toThrow('Nothing was deleted');
  });
});

it.each([
  [undefined, false],
  ['*', true],
  [tag, true],
  [`W/${tag}`, true],
  [`"other", ${tag}`, true],
  ['"other"', false],
  ['invalid', false],
])('If-None-Match: %s matches: %s', (header, matches) => {
  expect(matchesIfNoneMatch(header, tag)).toBe(matches);
});
