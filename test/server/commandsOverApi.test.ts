import { afterAll, beforeAll, expect, it } from 'vitest';
import { floodgate as run } from '../rules/support/command.ts';
import { newRule, rulesPath, zonesPath } from '../rules/support/samples.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';

const NOBODY = 'http://127.0.0.1:9';

let server: Floodgate;
beforeAll(async () => {
  server = await startFloodgate({ upstream: NOBODY, whenListening: true });
});
afterAll(() => server?.stop());

type Access = 'the API' | 'the data folder';
const BOTH: readonly Access[] = ['the API', 'the data folder'];

async function command(access: Access, ...words: string[]): Promise<string> {
  const env =
    access === 'the API'
      ? {
          FLOODGATE_URL: `${server.url}/client/v4`,
          FLOODGATE_TOKEN: server.token,
          FLOODGATE_ACCOUNT: 'acme',
        }
      : { FLOODGATE_DATA_DIR: server.dataDir };
  const { status, stdout, stderr } = await run(words, { env });
  expect(status, stderr).toBe(0);
  return stdout;
}

async function listed(access: Access, ...words: string[]): Promise<Record<string, unknown>[]> {
  const lines = (await command(access, ...words, '--json')).trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

const post = async (path: string, body: object, method = 'POST'): Promise<{ id: string }> => {
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
  const response = await fetch(`${server.url}/client/v4${path}`, {
    method,
    headers,
    body: JSON.stringify(body),
  });
  const { result } = (await response.json()) as { result: { id: string } };
  expect(response.status).toBe(200);
  return result;
};

it('floodgate key creates the same keys over the API as in the data folder, and lists them with the same members', async () => {
  const limits = 'traceFilterBlocks=5000,traceFilterCount=20,logsBlocks=3,feeHistoryBlocks=7';
  const few = ['--rate', '50', '--methods', 'eth_call,eth_chainId', '--limits', limits, '--expires', '90d'];
  for (const access of BOTH) {
    await command(access, 'key', 'create', '--name', `few over ${access}`, ...few);
    await command(access, 'key', 'create', '--name', `all over ${access}`);
    const id = (await listed(access, 'key', 'list')).find(({ name }) => name === `all over ${access}`)?.[
      'id'
    ];
    await command(access, 'key', 'revoke', String(id));
  }
  const text = await command('the API', 'key', 'list');
  expect(await command('the data folder', 'key', 'list')).toBe(text);
  expect(text.split(limits.replaceAll(',', '  '))).toHaveLength(3);
  const stored = await listed('the data folder', 'key', 'list');
  expect(stored).toMatchObject([
    {
      status: 'active',
      rate_per_second: 50,
      methods: ['eth_call', 'eth_chainId'],
      limits: { trace_filter_blocks: 5000, trace_filter_count: 20, logs_blocks: 3, fee_history_blocks: 7 },
    },
    { status: 'revoked', revoked_on: expect.any(String) },
    { limits: { trace_filter_blocks: 5000 } },
    { status: 'revoked' },
  ]);
  const served = await listed('the API', 'key', 'list');
  expect(served.map(({ calls, ...key }) => key)).toEqual(stored);
});

it('floodgate token creates the same tokens over the API as in the data folder, and lists them with the same members', async () => {
  for (const access of BOTH) {
    const created = async (...flags: string[]) =>
      JSON.parse(await command(access, 'token', 'create', '--json', ...flags));
    const all = await created('--all-accounts', '--expires', '90d');
    const { token: _, ...some } = await created('--account', 'acme', '--permission', 'read');
    await command(access, 'token', 'revoke', all.id);
    expect((await listed(access, 'token', 'list')).find(({ id }) => id === some.id)).toEqual(some);
  }
  const table = await command('the API', 'token', 'list');
  expect(await command('the data folder', 'token', 'list')).toBe(table);
  const stored = await listed('the data folder', 'token', 'list');
  expect(stored).toHaveLength(4);
  const served = await listed('the API', 'token', 'list');
  expect(served.map(({ requests, last_used_on, ...token }) => token)).toEqual(stored);
});

it('floodgate audit lists the same changes over the API as from the data folder, with the same members', async () => {
  const { id } = await post(rulesPath('acme'), newRule);
  await post(`${rulesPath('acme')}/${id}`, { mode: 'disabled' }, 'PATCH');
  await post(zonesPath('acme'), { zone: 'example.com' });
  const lists = rulesPath('acme').replace('configs/dns_protection/rules', 'configs/allowlist');
  await post(lists, { prefix: '192.0.2.0/24', comment: '', enabled: true });
  const created = JSON.parse(await command('the API', 'token', 'create', '--account', 'acme', '--json'));
  await command('the API', 'token', 'revoke', created.id);
  const stored = await listed('the data folder', 'audit', '--all');
  expect(stored.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['rule.create', 'rule.update', 'zone.create', 'list.create', 'token.revoke']),
  );
  const served = await listed('the API', 'audit', '--all');
  expect(served.filter(({ key }) => key === undefined)).toEqual(stored);
});
