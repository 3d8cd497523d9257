import { describe, expect, it } from 'vitest';
import { CreatorEnded, TooManyTokens } from '../storeErrors.ts';
import type { Token } from './token.ts';
import {
  checkTokenLimits,
  displacedTokens,
  MAX_ENDED_TOKENS,
  MAX_VALID_FOR_TENANTS,
  MAX_VALID_IN_TREE,
  MAX_VALID_TOKENS,
  tokenBy,
} from './tokenTree.ts';

const CREATOR: Token = {
  id: 'c'.repeat(32),
  hash: 'hash',
  label: 'creator',
  accounts: ['a'],
  permissions: ['tokens:write'],
  created_on: '2026-01-01T00:00:00.000000Z',
  expires_on: null,
  revoked_on: null,
  root: 'f'.repeat(32),
};
const OPERATOR: Token = { ...CREATOR, accounts: 'all', root: undefined as never };
const NEW = { hash: 'new', label: 'new', accounts: ['a'], permissions: [], expires_on: null } as const;
const NOW = '2026-06-01T00:00:00.000000Z';
const LATER = '2026-07-01T00:00:00.000000Z';

describe('a token that another token creates', () => {
  it('belongs to the tree of its creator, and expires with it at the latest', () => {
    const by = CREATOR.id;
    expect(tokenBy({ creator: CREATOR, by }, NEW, NOW)).toEqual({ ...NEW, root: CREATOR.root });
    const ending = { ...CREATOR, expires_on: LATER };
    expect(tokenBy({ creator: ending, by }, NEW, NOW)).toMatchObject({ expires_on: LATER });
    const ended = { ...CREATOR, expires_on: NOW };
    expect(() => tokenBy({ creator: ended, by }, NEW, NOW)).toThrow(CreatorEnded);
  });

  it('is rejected if its creator has ended and was removed, and is a root if no stored token is its creator', () => {
    expect(() => tokenBy({ creator: undefined, by: CREATOR.id }, NEW, NOW)).toThrow(CreatorEnded);
    for (const by of ['cli:operator', `configured:${'0'.repeat(16)}`])
      expect(tokenBy({ creator: undefined, by }, NEW, NOW)).toEqual(NEW);
  });

  const LAST = { total: MAX_VALID_TOKENS - 1, inTree: 0 };
  const LAST_OF_TENANTS = { total: MAX_VALID_FOR_TENANTS - 1, inTree: MAX_VALID_IN_TREE - 1 };

  it('is within the limits up to the last permitted token', () => {
    for (const creator of [undefined, OPERATOR]) expect(() => checkTokenLimits(creator, LAST)).not.toThrow();
    expect(() => checkTokenLimits(CREATOR, LAST_OF_TENANTS)).not.toThrow();
  });

  it.each([
    ['the maximum of tokens is valid', OPERATOR, { total: MAX_VALID_TOKENS }],
    ['a tenant reaches the limit of tenants', CREATOR, { total: MAX_VALID_FOR_TENANTS }],
    ['the tree of the creator is full', CREATOR, { inTree: MAX_VALID_IN_TREE }],
  ])('is rejected if %s', (_, creator, valid) => {
    expect(() => checkTokenLimits(creator, { ...LAST_OF_TENANTS, ...valid })).toThrow(TooManyTokens);
  });
});

describe('ended tokens', () => {
  const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  const ended = (tree: string, minute: number): Token => ({
    ...CREATOR,
    id: `${tree} ${minute}`,
    root: tree,
    revoked_on: at(minute),
  });
  const many = (tree: string, count: number): Token[] =>
    Array.from({ length: count }, (_, minute) => ended(tree, minute));

  it('all remain up to the limit, and valid tokens always', () => {
    expect(displacedTokens([...many('a', MAX_ENDED_TOKENS), CREATOR], NOW)).toEqual([]);
  });

  it('are displaced in the tree with most of them, the earliest first', () => {
    const tokens = [...many('a', MAX_ENDED_TOKENS), ...many('b', 3), { ...ended('c', 0), root: 'c' }];
    const displaced = displacedTokens([...tokens, CREATOR], NOW);
    expect(displaced.map(({ id }) => id).sort()).toEqual(['a 0', 'a 1', 'a 2', 'a 3']);
  });

  it('are displaced by the time of their end, whether they were revoked or have expired', () => {
    const expired = { ...ended('a', 0), id: 'expired', revoked_on: null, expires_on: at(2_000) };
    const [displaced, ...more] = displacedTokens([expired, ...many('a', MAX_ENDED_TOKENS)], NOW);
    expect([displaced?.id, more]).toEqual(['a 0', []]);
  });
});
