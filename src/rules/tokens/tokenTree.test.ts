import { describe, expect, it } from 'vitest';
import { CreatorEnded, TooManyTokens } from '../storeErrors.ts';
import type { Token } from './token.ts';
import {
  checkTokenLimits,
  MAX_VALID_FOR_TENANTS,
  MAX_VALID_IN_TREE,
  MAX_VALID_TOKENS,
  tokenBy,
} from './tokenTree.ts';

const CREATOR: Token = {
  ...{ id: 'c'.repeat(32), hash: 'hash', label: 'creator', accounts: ['a'], permissions: ['tokens:write'] },
  ...{ created_on: '2026-01-01T00:00:00.000000Z', expires_on: null, revoked_on: null, root: 'f'.repeat(32) },
};
const OPERATOR: Token = { ...CREATOR, accounts: 'all', root: undefined as never };
const NEW = { hash: 'new', label: 'new', accounts: ['a'], permissions: [], expires_on: null } as const;
const NOW = '2026-06-01T00:00:00.000000Z';
const LATER = '2026-07-01T00:00:00.000000Z';

describe('a token that another token creates', () => {
  it('belongs to the tree of its creator, and expires with it at the latest', () => {
    expect(tokenBy(undefined, NEW, NOW)).toEqual(NEW);
    expect(tokenBy(CREATOR, NEW, NOW)).toEqual({ ...NEW, root: CREATOR.root });
    expect(tokenBy({ ...CREATOR, expires_on: LATER }, NEW, NOW)).toMatchObject({ expires_on: LATER });
    expect(() => tokenBy({ ...CREATOR, expires_on: NOW }, NEW, NOW)).toThrow(CreatorEnded);
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
