import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openGatewayStorage } from '../../src/ethereum/store/lmdb/gateway/index.ts';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

/** A URL without a listener. */
const NOBODY = 'http://127.0.0.1:9';
const HASH = 'cd'.repeat(32);
/** A label with control characters that clear a terminal. */
const HOSTILE = 'pipe\u001b[2Jline\u202e';

let floodgate: Floodgate;
beforeAll(async () => {
  floodgate = await startFloodgate({ config: { upstream: [NOBODY] }, whenListening: true });
});
afterAll(() => floodgate?.stop());

it('each change of an access list, a zone policy, a token or an API key is logged once, with its actor and without secrets', async () => {
  const lists = `${floodgate.url}/client/v4/accounts/a/network/advanced_dns_protection/configs/denylist`;
  const send = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${floodgate.token}` };
    const response = await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return (await response.json()) as { result: { id: string } };
  };
  const { result: entry } = await send('POST', lists, { prefix: '198.51.100.0/24' });
  await send('PATCH', `${lists}/${entry.id}`, { enabled: false });
  await send('DELETE', `${lists}/${entry.id}`);

  const zones = lists.replace(/denylist$/, 'dns_protection/zones');
  const { result: policy } = await send('POST', zones, { zone: 'example.com' });
  await send('PATCH', `${zones}/${policy.id}`, { rate: 7, comment: 'x\u202e' });
  await send('DELETE', `${zones}/${policy.id}`);

  // Like the commands, which write to the stores of a running server.
  const by = { by: 'cli:tester', from: 'local' };
  const rules = openRulesStorage(floodgate.dataDir);
  const token = await rules.tokens.create(
    { hash: HASH, label: HOSTILE, accounts: 'all', permissions: [], expires_on: null },
    by,
  );
  await rules.tokens.revoke(token.id, by);
  await rules.close();
  const gateway = openGatewayStorage(floodgate.dataDir, 1024 * 1024);
  const createdOn = new Date().toISOString();
  await gateway.keys.add(HASH, { id: 'k1', name: HOSTILE, createdOn, createdBy: by.by });
  await gateway.keys.revoke('k1', { revokedOn: createdOn, revokedBy: by.by });
  await gateway.close();

  const lines = (): Array<Record<string, unknown>> =>
    floodgate
      .output()
      .split('\n')
      .filter((line) => /(rule|access list|zone policy|token|API key) changed"/.test(line))
      .map((line) => JSON.parse(line));
  const reported = await until('ten log lines', () => lines().length >= 10 && lines());
  const clean = 'pipe\uFFFD[2Jline\uFFFD';
  const ofList = {
    by: expect.stringMatching(/^configured:[0-9a-f]{16}$/),
    account: 'a',
    list: 'denylist',
    entry: entry.id,
    subject: '198.51.100.0/24',
  };
  const ofZone = {
    by: expect.stringMatching(/^configured:[0-9a-f]{16}$/),
    account: 'a',
    zone: 'example.com',
    policy: policy.id,
    mode: 'inherit',
  };
  const ofToken = { by: 'cli:tester', from: 'local', token: token.id, name: clean };
  const ofKey = { by: 'cli:tester', key: 'k1', name: clean };
  const msg = (what: string): object => ({ level: 30, msg: `${what} changed` });
  expect(reported.toSorted((a, b) => String(a['action']).localeCompare(String(b['action'])))).toMatchObject([
    { action: 'key.create', ...ofKey, ...msg('API key') },
    { action: 'key.revoke', ...ofKey, ...msg('API key') },
    { action: 'list.create', ...ofList, ...msg('access list') },
    { action: 'list.delete', ...ofList, ...msg('access list') },
    { action: 'list.update', ...ofList, ...msg('access list') },
    { action: 'token.create', ...ofToken, ...msg('token') },
    { action: 'token.revoke', ...ofToken, ...msg('token') },
    { action: 'zone.create', ...ofZone, changed: [], ...msg('zone policy') },
    { action: 'zone.delete', ...ofZone, changed: [], ...msg('zone policy') },
    { action: 'zone.update', ...ofZone, changed: ['rate: 7', 'comment: x\uFFFD'], ...msg('zone policy') },
  ]);
  for (const secret of [HASH, floodgate.token, '\u001b']) expect(floodgate.output()).not.toContain(secret);
});

it('metrics count requests by operation and status, without labels from client data', async () => {
  const rules = `${floodgate.url}/client/v4/accounts/b/network/advanced_dns_protection/configs/dns_protection/rules`;
  const headers = { authorization: `Bearer ${floodgate.token}` };
  await (await fetch(rules, { headers })).text();
  await (await fetch(`${rules}/`, { headers })).text();
  await (await fetch(rules)).text();
  await (await fetch(rules, { method: 'POST', headers, body: '{' })).text();
  await (await fetch(`${floodgate.url}/client/v4/secret-path`)).text();
  await (await fetch(rules, { method: 'PUT', headers })).text();
  await (await fetch(floodgate.gatewayUrl, { method: 'POST', body: '{}' })).text();
  const metrics = await until('the last response in the metrics', async () => {
    const text = await (await fetch(`${floodgate.url}/metrics`)).text();
    return text.includes('floodgate_http_responses_total{status="415"} 1') && text;
  });
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  for (const series of [
    `floodgate_build_info{version="${version}",node="${process.versions.node}"} 1`,
    'floodgate_rules_requests_total{operation="listRules",status="200"} 2',
    'floodgate_rules_requests_total{operation="listRules",status="401"} 1',
    'floodgate_rules_requests_total{operation="createRule",status="400"} 1',
    'floodgate_rules_requests_total{operation="none",status="404"} 1',
    'floodgate_rules_requests_total{operation="none",status="405"} 1',
    'floodgate_http_responses_total{status="401"} 1',
    'floodgate_http_responses_total{status="405"} 1',
  ])
    expect(metrics).toContain(series);
  expect(metrics).not.toContain('secret-path');
});
