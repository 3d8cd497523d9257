import Fastify from 'fastify';
import { expect, it } from 'vitest';
import {
  type AccessListStore,
  type AuditLog,
  CreatorEnded,
  hashSecret,
  type RuleStore,
  type Token,
  type TokenStore,
  type ZonePolicyStore,
} from '../index.ts';
import { rulesApi } from './rulesApi.ts';

const SECRET = 'secret-of-a-stored-token';
const TOKENS = '/client/v4/user/tokens';
const stored: Token = {
  id: '0'.repeat(32),
  hash: hashSecret(SECRET).toString('hex'),
  label: 'stored',
  accounts: 'all',
  permissions: ['tokens:write'],
  created_on: '2026-01-01T00:00:00Z',
  expires_on: null,
  revoked_on: null,
};

/** Serves the API with one stored token, which ends after each request was authenticated. */
async function serve() {
  const unused = {};
  const tokens: TokenStore = {
    findByHash: async (hash) => (hash === stored.hash ? stored : undefined),
    list: async () => [stored],
    create: () => Promise.reject(new CreatorEnded()),
    revoke: () => Promise.reject(new Error('not tested')),
    lastUses: async () => new Map(),
    noteUses: async () => undefined,
  };
  const server = Fastify();
  await server.register(rulesApi, {
    prefix: '/client/v4',
    tokens,
    configuredTokens: ['operator'],
    rules: unused as RuleStore,
    lists: unused as AccessListStore,
    zonePolicies: unused as ZonePolicyStore,
    audit: unused as AuditLog,
  });
  return server;
}

it.each([
  [
    'token ends before the store creates its token',
    { all_accounts: true, permissions: ['tokens:read'] },
    401,
  ],
  ['token lacks a permission that it grants', { all_accounts: true, permissions: ['keys:write'] }, 403],
])('a request whose %s is counted as rejected', async (_case, payload, status) => {
  const server = await serve();
  const headers = { authorization: `Bearer ${SECRET}` };
  const { statusCode } = await server.inject({ method: 'POST', url: TOKENS, headers, payload });
  expect(statusCode).toBe(status);
  const read = { url: `${TOKENS}/${stored.id}`, headers: { authorization: 'Bearer operator' } };
  expect((await server.inject(read)).json().result.requests).toEqual({ count: 1, rejected: 1 });
  await server.close();
});
