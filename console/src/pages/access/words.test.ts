import { expect, it } from 'vitest';
import type { ApiToken, GatewayKey } from '../../api/access.ts';
import { sentenceOf } from './words.ts';

const NOW_MS = Date.parse('2026-11-22T12:00:00Z');
const token = (of: Partial<ApiToken>) => ({ status: 'active', ...of }) as ApiToken; // what is not looked at is left out
const key = (status: GatewayKey['status']) => ({ status }) as GatewayKey; // the same

it('says who may come in: that the server has a token of its own, where it is the only one', () => {
  const sentence = (tokens: readonly ApiToken[], hasServersToken = true) =>
    sentenceOf({ hasServersToken, tokens, keys: undefined }, NOW_MS);
  const only = 'The server’s own token is the only one that is valid.';
  expect(sentence([])).toBe(only);
  expect(sentence([token({ status: 'revoked' })])).toBe(only);
  expect(sentence([token({})])).toBe('One token is valid.');
  expect(sentence([token({}), token({ expires_on: '2026-11-23T12:00:00.000000+00:00' })])).toBe(
    '2 tokens are valid, 1 of them for less than a week.',
  );
  expect(sentence([token({})], false)).toBe('One token is valid.');
});

it('says whether the gateway is open, or closed to all', () => {
  const sentence = (keys: readonly GatewayKey[]) =>
    sentenceOf({ hasServersToken: true, tokens: undefined, keys }, NOW_MS);
  expect(sentence([])).toBe('The gateway is open: no key was ever made.');
  expect(sentence([key('revoked')])).toBe('No gateway key is valid.');
  expect(sentence([key('active')])).toBe('One gateway key is valid.');
});
