import { expect, it } from 'vitest';
import type { Change } from '../../api/types.ts';
import { actorOf, differencesOf, isMatch, subjectOf } from './texts.ts';

const base = { at: '2026-11-27T03:12:00.000001Z', by: '8f3e21ab-0000', from: '192.0.2.1', account: 'a' };
const entry = {
  id: 'e',
  prefix: '198.51.100.0/24',
  comment: '',
  enabled: true,
  created_on: '1',
  modified_on: '1',
};
const created: Change = { ...base, list: 'denylist', entry: 'e', action: 'list.create', after: entry };
const changed: Change = {
  ...created,
  action: 'list.update',
  before: entry,
  after: { ...entry, enabled: false, modified_on: '2' },
};

it('an actor is named by the label of its token, and no label can imitate another kind of actor', () => {
  expect(actorOf({ by: '8f3e21ab-0000', label: 'alice' })).toEqual({ name: 'alice', note: 'token 8f3e21ab' });
  expect(actorOf({ by: '8f3e21ab-0000' })).toEqual({ name: 'token 8f3e21ab', note: 'without a label' });
  expect(actorOf({ by: 'cli:root' })).toEqual({ name: 'root', note: 'command line' });
  expect(actorOf({ by: 'cli:a:b\n' })).toEqual({ name: 'a:b\n', note: 'command line' });
  expect(actorOf({ by: '1', label: 'cli:root' })).toEqual({ name: 'cli:root', note: 'token 1' });
  expect(actorOf({ by: 'configured:0123456789abcdef' }).note).toBe('configured 01234567');
});

it('the differences of a change omit members that the server sets', () => {
  expect(differencesOf(changed)).toEqual([{ name: 'enabled', before: 'true', after: 'false' }]);
  expect(differencesOf(created).map(({ name }) => name)).toEqual(['prefix', 'comment', 'enabled']);
});

it('a forgotten zone and a deleted entry have a subject', () => {
  const forgotten: Change = { ...base, zone: 'example.com', policy: 'p', action: 'zone.forget' };
  expect(subjectOf(forgotten)).toBe('zone example.com');
  expect(differencesOf(forgotten)).toEqual([]);
  expect(subjectOf({ ...base, list: 'denylist', entry: 'e', action: 'list.delete', before: entry })).toBe(
    'denylist entry 198.51.100.0/24',
  );
});

it('tokens and API keys have a subject and readable values', () => {
  const token = {
    label: 'ci',
    all_accounts: false,
    accounts: ['a', 'b'],
    created_on: '1',
    permissions: ['tokens:read' as const],
  };
  const of = { ...base, token: '8f3e21ab-0000' };
  const after = { ...token, revoked_on: '2' };
  const revoked: Change = { ...of, action: 'token.revoke', before: token, after };
  expect(subjectOf(revoked)).toBe('token ci');
  expect(differencesOf(revoked)).toEqual([{ name: 'revoked_on', before: undefined, after: '2' }]);
  const created: Change = { ...of, action: 'token.create', after: { ...token, label: '' } };
  expect(subjectOf(created)).toBe('token 8f3e21ab');
  const ofAll: Change = { ...of, action: 'token.create', after: { ...token, accounts: [] } };
  expect(differencesOf(ofAll).map(({ name }) => name)).not.toContain('accounts');
  expect(differencesOf(created)).toContainEqual({ name: 'accounts', before: undefined, after: 'a, b' });
  const key = { name: 'wallet', limits: { logs_blocks: 5 } };
  const ofKey: Change = { ...base, key: '0a1b2c3d', action: 'key.create', after: key };
  expect(subjectOf(ofKey)).toBe('API key wallet');
  expect(differencesOf(ofKey)[1]).toEqual({ name: 'limits', before: undefined, after: '{"logs_blocks":5}' });
});

it('a filter matches actor, address, verb and object, in any case', () => {
  const match = (text: string, kind = '') => isMatch({ ...created, label: 'Alice' }, { kind, text });
  for (const text of ['alice', '192.0.2', 'CREATED', '198.51', '']) expect(match(text)).toBe(true);
  expect(match('bob')).toBe(false);
  expect([match('', 'list'), match('', 'rule')]).toEqual([true, false]);
});
