import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAX_LIMITS } from '../../src/ethereum/gateway/index.ts';
import { call as apiCall } from '../rules/support/call.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { send } from './support/send.ts';
import { openWebSocket } from './support/webSocketClient.ts';

const KEYS = '/gateway/keys';
const CHAIN_ID = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
const BLOCK_NUMBER = { ...CHAIN_ID, method: 'eth_blockNumber' };

const CONFIG = { gateway: { corsOrigins: ['https://app.example'] } };

let chain: SharedChain;
let dataDir: string;
let floodgate: Floodgate;
beforeAll(async () => {
  chain = await startSharedChain();
  dataDir = mkdtempSync(join(tmpdir(), 'floodgate-keys-'));
  floodgate = await startFloodgate({ upstream: chain.anvil.url, dataDir, config: CONFIG });
});
afterAll(async () => {
  await floodgate?.stop();
  await chain?.anvil.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const api = (
  method: string,
  path: string,
  { token, ...more }: { body?: unknown; token?: string; headers?: object } = {},
) =>
  apiCall(
    { baseUrl: `${floodgate.url}/client/v4` },
    { method, path, token: token ?? floodgate.token, ...(more as object) },
  );
const created = async (body: object): Promise<{ id: string; value: string }> => {
  const { status, json, text } = await api('POST', KEYS, { body });
  expect(status, text).toBe(200);
  return json.result;
};
const shown = async (id: string) => (await api('GET', `${KEYS}/${id}`)).json.result;
const calls = async (value: string, body: unknown = CHAIN_ID): Promise<number> =>
  (await send(floodgate.gatewayUrl, { body, headers: { authorization: `Bearer ${value}` } })).status;
const token = async (permissions: readonly string[], all_accounts = true): Promise<string> => {
  const body = { permissions, ...(all_accounts ? { all_accounts } : { accounts: ['a'] }) };
  return (await api('POST', '/user/tokens', { body })).json.result.value;
};

it('keys API creates the key that closes the gateway, restricts it, counts its calls and revokes it immediately', async () => {
  const before = await api('GET', '/gateway');
  expect(before.json.result).toEqual({
    networks: [{ network: 'mainnet', chain_id: '0x7a69' }],
    needs_key: false,
  });
  expect((await send(floodgate.gatewayUrl, { body: CHAIN_ID })).status).toBe(200);

  const { id, value } = await created({
    name: ' few ',
    rate_per_second: 1000,
    methods: ['eth_chainId', 'eth_subscribe'],
  });
  expect([id, value]).toEqual([
    expect.stringMatching(/^[0-9a-f]{8}$/),
    expect.stringMatching(/^fgk_\S{40}$/),
  ]);
  await until(
    'the gateway to require a key',
    async () => (await send(floodgate.gatewayUrl, { body: CHAIN_ID })).status === 401,
  );
  expect((await api('GET', '/gateway')).json.result.needs_key).toBe(true);
  expect(await shown(id)).toMatchObject({
    name: 'few',
    status: 'active',
    rate_per_second: 1000,
    methods: ['eth_chainId', 'eth_subscribe'],
    created_by: expect.stringMatching(/^configured:[0-9a-f]{16}$/),
    created_from: '127.0.0.1',
    calls: { admitted: 0, limited: 0, forbidden: 0 },
  });
  expect(await calls(value)).toBe(200);
  expect(await calls(value, BLOCK_NUMBER)).toBe(403);
  const used = await shown(id);
  expect(used.calls).toEqual({ admitted: 2, limited: 0, forbidden: 1 });
  expect(Date.parse(used.last_used_on)).toBeGreaterThanOrEqual(Date.parse(used.created_on));

  // The gateway's own origin is accepted although it is not in corsOrigins; other origins are rejected.
  const url = `${floodgate.gatewayUrl}?key=${value}`;
  const own = await openWebSocket(url, { origin: floodgate.url });
  await expect(openWebSocket(url, { origin: 'http://evil.example' })).rejects.toThrow(/403/);
  await expect(openWebSocket(url, { origin: 'null' })).rejects.toThrow(/403/);

  const { json } = await api('DELETE', `${KEYS}/${id}`);
  expect(json.result).toMatchObject({
    status: 'revoked',
    revoked_by: expect.stringMatching(/^configured:[0-9a-f]{16}$/),
    revoked_from: '127.0.0.1',
  });
  expect(await calls(value)).toBe(401);
  own.close();
  expect((await api('DELETE', `${KEYS}/${id}`)).json.result).toEqual(
    expect.objectContaining({ revoked_on: json.result.revoked_on }),
  );
  expect((await api('DELETE', `${KEYS}/00000000`)).status).toBe(404);
});

it('keys API creates a key with limits of its own', async () => {
  const limits = { trace_filter_blocks: 5_000, logs_blocks: 3 };
  const { id, value } = await created({ name: 'limits', limits });
  expect((await shown(id)).limits).toEqual(limits);
  const body = { ...CHAIN_ID, method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: '0x4' }] };
  const answer = await send(`${floodgate.gatewayUrl}/${value}`, { body });
  expect(answer.json.error).toMatchObject({ code: -32005, data: { limit: 3, requested: 4 } });
  const most = {
    trace_filter_blocks: MAX_LIMITS.traceFilterBlocks,
    trace_filter_count: MAX_LIMITS.traceFilterCount,
    logs_blocks: MAX_LIMITS.logsBlocks,
    fee_history_blocks: MAX_LIMITS.feeHistoryBlocks,
  };
  expect((await shown((await created({ name: 'most', limits: most })).id)).limits).toEqual(most);
  const tooHigh = Object.entries(most).map(([name, limit]) => ({ [name]: limit + 1 }));
  for (const wrong of [...tooHigh, {}, { logs_blocks: 0 }, { logs: 1 }, { logs_blocks: '3' }]) {
    const { status, text } = await api('POST', KEYS, { body: { name: 'wrong', limits: wrong } });
    expect(status, text).toBe(400);
    expect(text).toContain('limits');
  }
  const faultOf = async (wrong: object) =>
    (await api('POST', KEYS, { body: { name: 'wrong', limits: wrong } })).json.errors[0];
  expect(await faultOf({ logs_blocks: 0 })).toMatchObject({
    message: 'limits: logs_blocks must be an integer from 1 to 10000; got 0',
    source: { pointer: '/limits/logs_blocks' },
  });
  expect(await faultOf({ traceFilterBlocks: 1 })).toMatchObject({
    message: expect.stringMatching(/^limits: "traceFilterBlocks" is not a valid field here; allowed: trace_/),
    source: { pointer: '/limits/traceFilterBlocks' },
  });
  expect(await faultOf([])).toMatchObject({
    message: expect.stringMatching(/^limits must be an object with at least one of trace_.*; got an array$/),
    source: { pointer: '/limits' },
  });
});

it('keys API creates a key that works until expires_on', async () => {
  const soon = new Date(Date.now() + 1_500).toISOString();
  const { id, value } = await created({ name: 'short', expires_on: soon });
  expect(await calls(value)).toBe(200);
  await until('the key to expire', async () => (await calls(value)) === 401);
  expect((await shown(id)).status).toBe('expired');
});

it('keys API requires a token for all accounts with a keys permission', async () => {
  const reader = await token(['keys:read']);
  const other = await token(['health:read', 'nodes:write', 'tokens:write', 'dns_protection:write']);
  const account = await token(['tokens:write', 'dns_protection:write'], false);
  const body = { name: 'mine' };
  expect((await api('GET', KEYS, { token: reader })).status).toBe(200);
  expect((await api('POST', KEYS, { token: reader, body })).status).toBe(403);
  for (const lacking of [other, account])
    for (const [method, path] of [
      ['GET', KEYS],
      ['POST', KEYS],
      ['DELETE', `${KEYS}/00000000`],
    ] as const)
      expect((await api(method, path, { token: lacking, ...(method === 'POST' && { body }) })).status).toBe(
        403,
      );
  // Any valid token may list the networks.
  expect((await api('GET', '/gateway', { token: account })).status).toBe(200);
});

it('keys API adds changes of keys to the audit of tokens for all accounts that may list keys', async () => {
  const made = await api('POST', '/user/tokens', {
    body: { label: 'root', all_accounts: true, permissions: ['dns_protection:audit', 'keys:write'] },
  });
  const { id: by, value: root } = made.json.result;
  const { id } = (await api('POST', KEYS, { token: root, body: { name: 'seen', methods: ['eth_chainId'] } }))
    .json.result;
  await api('DELETE', `${KEYS}/${id}`, { token: root });
  const path = '/accounts/a/network/advanced_dns_protection/configs/dns_protection/audit';
  const read = async (secret: string, query = '') =>
    (await api('GET', `${path}${query}`, { token: secret })).json;
  const common = { by, label: 'root', from: '127.0.0.1', key: id, at: expect.any(String) };
  const settings = { name: 'seen', methods: ['eth_chainId'] };
  const changes = [
    { ...common, action: 'key.revoke', before: settings },
    { ...common, action: 'key.create', after: settings },
  ];
  expect((await read(root)).result.slice(0, 2)).toEqual(changes);
  expect((await read(await token(['dns_protection:audit']))).result).toEqual([]);
  // Page by page, with the changes of tokens, and without a gap.
  const all = await token(['dns_protection:audit', 'keys:read', 'tokens:read']);
  const [newest, ...rest] = (await read(all)).result;
  expect(newest).toMatchObject({ action: 'token.create' });
  const seen = [];
  let page = await read(all, '?per_page=1');
  seen.push(...page.result);
  while (page.result_info.cursor) {
    page = await read(all, `?per_page=1&cursor=${page.result_info.cursor}`);
    seen.push(...page.result);
  }
  expect(seen).toEqual([newest, ...rest]);
  const since = encodeURIComponent(rest[0].at);
  expect((await read(all, `?since=${since}&until=${since}`)).result).toEqual([rest[0]]);
  expect((await read(all, '?since=2099-01-01T00:00:00Z')).result).toEqual([]);
});

it('keys API reports every fault, creates one key per Idempotency-Key and shows a key once', async () => {
  const faults = async (body: unknown) => {
    const { status, json } = await api('POST', KEYS, { body });
    return [status, json.errors.map(({ source }: { source?: { pointer: string } }) => source?.pointer)];
  };
  expect(await faults({})).toEqual([400, ['/name']]);
  expect(
    await faults({
      name: '\u202e',
      rate_per_second: 0,
      methods: ['eth_sign'],
      expires_on: '2001-01-01T00:00:00Z',
      x: 1,
    }),
  ).toEqual([400, ['/name', '/rate_per_second', '/methods', '/expires_on', '/x']]);

  const again = (body: object) => api('POST', KEYS, { body, headers: { 'idempotency-key': 'k' } });
  const [first, second] = [await again({ name: 'once' }), await again({ name: 'once' })];
  expect(second.json.result).toEqual(first.json.result);
  expect(second.headers['idempotent-replayed']).toBe('true');
  expect((await again({ name: 'other' })).status).toBe(422);

  const { value } = first.json.result;
  const places = [
    (await api('GET', KEYS)).text,
    floodgate.output(),
    readFileSync(join(dataDir, 'gateway', 'data.mdb')).toString('latin1'),
  ];
  for (const place of places) expect(place).not.toContain(value);
  await until('the new key in the log', () => floodgate.output().includes(`"key":"${first.json.result.id}"`));
});

it('keys API keeps last_used_on of keys and tokens after a restart', async () => {
  const { id, value } = await created({ name: 'kept' });
  const mine = await token(['keys:read', 'tokens:read']);
  expect(await calls(value)).toBe(200);
  const { json } = await api('GET', KEYS, { token: mine });
  const before = json.result.find((key: { id: string }) => key.id === id).last_used_on;
  const verified = (await api('GET', '/user/tokens/verify', { token: mine })).json.result;
  await floodgate.stop();
  floodgate = await startFloodgate({ upstream: chain.anvil.url, dataDir, config: CONFIG });
  expect(await shown(id)).toMatchObject({ last_used_on: before, calls: { admitted: 0 } });
  expect((await api('GET', `/user/tokens/${verified.id}`)).json.result).toMatchObject({
    last_used_on: expect.any(String),
    requests: { count: 0 },
  });
});
