import Fastify from 'fastify';
import { expect, it } from 'vitest';
import {
  type AccessListStore,
  type AuditLog,
  type RuleStore,
  StoreUnavailable,
  type TokenStore,
  type ZonePolicyStore,
} from '../index.ts';
import { rulesApi } from './rulesApi.ts';

const path = '/client/v4/accounts/a/network/advanced_dns_protection/configs/dns_protection/rules';

/** Serves the API with stores whose methods all fail, to simulate a bug in the server. */
async function answerWhere(error: Error, method: 'GET' | 'POST' = 'GET') {
  const lines: string[] = [];
  const failing = new Proxy({}, { get: () => () => Promise.reject(error) });
  const server = Fastify({
    logger: { level: 'info', stream: { write: (line: string) => void lines.push(line) } },
  });
  await server.register(rulesApi, {
    prefix: '/client/v4',
    rules: failing as RuleStore, // every method of the proxy rejects, as a method of a store may
    lists: failing as AccessListStore,
    zonePolicies: failing as ZonePolicyStore,
    tokens: failing as TokenStore,
    audit: failing as AuditLog,
    configuredTokens: ['token'],
  });
  const body = { scope: 'global', name: 'x', mode: 'enabled', profile_sensitivity: 'low' };
  const answer = await server.inject({
    method,
    url: path,
    headers: { authorization: 'Bearer token' },
    ...(method === 'POST' && { payload: { ...body, rate_sensitivity: 'low', burst_sensitivity: 'low' } }),
  });
  await server.close();
  return { answer, log: lines.join('') };
}

it('an internal error returns 500 with the request id, and its stack is only logged', async () => {
  const { answer, log } = await answerWhere(new TypeError('the secret inside'));
  expect(answer.statusCode).toBe(500);
  const { errors, ...rest } = answer.json();
  expect(rest).toEqual({ result: null, success: false, messages: [] });
  expect(errors).toEqual([
    { code: 10500, message: expect.stringMatching(/^Internal error; the request id is req-\w+$/) },
  ]);
  expect(answer.body).not.toContain('secret inside');
  expect(log).toContain('the secret inside');
  expect(log).toContain(errors[0].message.split(' ').at(-1));
});

it.each(['GET', 'POST'] as const)(
  'an unavailable store makes %s return 503 with Retry-After',
  async (method) => {
    const { answer } = await answerWhere(new StoreUnavailable('no space left on /some/path'), method);
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.json().errors[0].code).toBe(10503);
    expect(answer.body).not.toContain('/some/path');
  },
);
