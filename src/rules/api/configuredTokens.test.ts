import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { hashSecret, type RulesStorage } from '../index.ts';
import { openRulesStorage } from '../store/lmdb/index.ts';
import { rulesApi } from './rulesApi.ts';

const [FIRST, SECOND] = ['first-token-of-the-file', 'second-token-of-the-file'];
const RULES = '/accounts/a/network/advanced_dns_protection/configs/dns_protection/rules';
const RULE = {
  scope: 'global',
  name: 'x',
  mode: 'enabled',
  profile_sensitivity: 'low',
  rate_sensitivity: 'low',
  burst_sensitivity: 'low',
};
const TOKEN = { accounts: ['a'], permissions: ['dns_protection:read'] };

let folder: string;
let storage: RulesStorage;
let server: FastifyInstance;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-configured-tokens-'));
  storage = openRulesStorage(folder);
  server = await serving([FIRST, SECOND]);
});
afterEach(async () => {
  await server.close();
  await storage.close();
  rmSync(folder, { recursive: true });
});

async function serving(configuredTokens: readonly string[], requests = 100): Promise<FastifyInstance> {
  const fastify = Fastify();
  const rateLimit = { requests, windowSeconds: 300 };
  const { staleSeconds: _, ...stores } = storage;
  await fastify.register(rulesApi, { ...stores, prefix: '/client/v4', configuredTokens, rateLimit });
  return fastify;
}

interface Sent {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(token: string, { path, body, headers }: Sent, to = server) {
  const answer = await to.inject({
    method: body ? 'POST' : 'GET',
    url: `/client/v4${path}`,
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body && { payload: body }),
  });
  return { status: answer.statusCode, headers: answer.headers, ...answer.json() };
}

const idOf = async (token: string, to?: FastifyInstance): Promise<string> =>
  (await send(token, { path: '/user/tokens/current' }, to)).result.id;

it('each token of the configuration has its own id, the same in every process and with other tokens', async () => {
  const ids = [await idOf(FIRST), await idOf(SECOND)];
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(id).toMatch(/^configured:[0-9a-f]{16}$/);
  const other = await serving([SECOND]);
  expect(await idOf(SECOND, other)).toBe(ids[1]);
  await other.close();
});

it('the id of a token of the configuration contains no part of the token or its hash', async () => {
  const id = (await idOf(FIRST)).replace('configured:', '');
  expect(hashSecret(FIRST).toString('hex')).not.toContain(id);
  expect(Buffer.from(FIRST).toString('hex')).not.toContain(id);
});

it.each([
  { what: 'rules', path: RULES, body: RULE },
  { what: 'tokens', path: '/user/tokens', body: TOKEN },
])('two tokens of the configuration can use the same Idempotency-Key for $what', async ({ path, body }) => {
  const create = (token: string, name: string) => {
    const named = 'scope' in body ? { ...body, name } : { ...body, label: name };
    return send(token, { path, body: named, headers: { 'idempotency-key': 'one' } });
  };
  const [first, second, again] = [
    await create(FIRST, 'first'),
    await create(SECOND, 'second'),
    await create(FIRST, 'first'),
  ];
  expect([first.status, second.status, again.status]).toEqual([200, 200, 200]);
  expect(second.result.id).not.toBe(first.result.id);
  expect(again.result.id).toBe(first.result.id);
  expect(again.headers['idempotent-replayed']).toBe('true');
});

it('the audit names the token of the configuration that made a change', async () => {
  for (const token of [FIRST, SECOND])
    expect((await send(token, { path: RULES, body: RULE })).status).toBe(200);
  const { result } = await send(FIRST, { path: RULES.replace(/rules$/, 'audit') });
  expect(result.map(({ by }: { by: string }) => by)).toEqual([await idOf(SECOND), await idOf(FIRST)]);
});

it('each token of the configuration has its own rate limit', async () => {
  const limited = await serving([FIRST, SECOND], 2);
  const read = async (token: string) => (await send(token, { path: RULES }, limited)).status;
  expect([await read(FIRST), await read(FIRST), await read(FIRST)]).toEqual([200, 200, 429]);
  expect(await read(SECOND)).toBe(200);
  await limited.close();
});

it('a request whose token was revoked while its body arrived changes nothing', async () => {
  const { value, id } = (
    await send(FIRST, { path: '/user/tokens', body: { ...TOKEN, permissions: ['dns_protection:write'] } })
  ).result;
  const base = await server.listen();
  const text = JSON.stringify(RULE);
  let finish: () => void = () => undefined;
  const revoked = new Promise<void>((resolve) => {
    finish = resolve;
  });
  async function* slowly() {
    yield text.slice(0, 10);
    await revoked;
    yield text.slice(10);
  }
  const response = fetch(`${base}/client/v4${RULES}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${value}` },
    body: ReadableStream.from(slowly()).pipeThrough(new TextEncoderStream()),
    duplex: 'half',
  });
  await until('the request to be admitted', async () => {
    return (await send(FIRST, { path: `/user/tokens/${id}` })).result.requests.count > 0;
  });
  await storage.tokens.revoke(id, { by: 'cli:tester', from: 'local' });
  finish();
  expect((await response).status).toBe(401);
  expect(await storage.rules.list('a')).toEqual([]);
});
