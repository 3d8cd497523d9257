import { expect, it } from 'vitest';
import type { Permission } from './token.ts';
import { type Grant, grantViolations } from './tokenGrant.ts';

const READ: Permission = 'dns_protection:read';
const WRITE: Permission = 'dns_protection:write';
const own: Grant = { accounts: ['a', 'b'], permissions: [WRITE], expires_on: '2027-01-01' };
const pointers = (wanted: Partial<Grant>, from: Partial<Grant> = {}) =>
  grantViolations({ ...own, ...from }, { ...own, ...wanted }).map(({ pointer }) => pointer);

it('a token can grant what it has, and less', () => {
  expect(pointers({})).toEqual([]);
  expect(pointers({ accounts: ['b'], permissions: [READ], expires_on: '2026-12-31' })).toEqual([]);
  expect(pointers({ accounts: ['c'] }, { accounts: 'all' })).toEqual([]);
  expect(pointers({ expires_on: null }, { expires_on: null })).toEqual([]);
});

it('a token cannot grant other accounts, more permissions or a later end', () => {
  expect(pointers({ accounts: ['a', 'c'] })).toEqual(['/accounts']);
  expect(pointers({ accounts: 'all' })).toEqual(['/all_accounts']);
  expect(pointers({ permissions: [WRITE] }, { permissions: [READ] })).toEqual(['/permissions']);
  expect(pointers({ expires_on: '2027-01-02' })).toEqual(['/expires_on']);
  expect(pointers({ expires_on: null })).toEqual(['/expires_on']);
});
