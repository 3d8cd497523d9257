import { expect, it } from 'vitest';
import type { ApiToken, GatewayKey } from '../../api/types.ts';
import { accessHeadline } from './texts.ts';

const NOW_MS = Date.parse('2026-11-22T12:00:00Z');
const token = (of: Partial<ApiToken>) => ({ status: 'active', ...of }) as ApiToken; // other members are not read
const key = (status: GatewayKey['status']) => ({ status }) as GatewayKey; // other members are not read

it('the headline counts the valid tokens, and mentions the configured token if no other one is valid', () => {
  const sentence = (tokens: readonly ApiToken[], hasServersToken = true) =>
    accessHeadline({ hasServersToken, tokens, keys: undefined }, NOW_MS);
  const only = 'Valid tokens: only the server’s own.';
  expect(sentence([])).toBe(only);
  expect(sentence([token({ status: 'revoked' })])).toBe(only);
  expect(sentence([token({})])).toBe('Valid tokens: 1.');
  expect(sentence([token({}), token({ expires_on: '2026-11-23T12:00:00.000000+00:00' })])).toBe(
    'Valid tokens: 2, 1 of them for less than a week.',
  );
  expect(sentence([token({})], false)).toBe('Valid tokens: 1.');
});

it('the headline reports whether the gateway is open or has no valid key', () => {
  const sentence = (keys: readonly GatewayKey[]) =>
    accessHeadline({ hasServersToken: true, tokens: undefined, keys }, NOW_MS);
  expect(sentence([])).toBe('The gateway is open: no key was ever created.');
  expect(sentence([key('revoked')])).toBe('Valid gateway keys: none.');
  expect(sentence([key('active')])).toBe('Valid gateway keys: 1.');
});
