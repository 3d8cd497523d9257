import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Conformance } from '../rules/support/conformance.ts';
import { PROGRAM } from '../support/program.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type ReplicatedChain, startReplicatedChain } from './support/replicatedChain.ts';
import { type Answer, send } from './support/send.ts';

let nextAddress = 0x2000;

describe('operator commands and budgets', () => {
  let chain: ReplicatedChain;
  let floodgate: Floodgate;

  beforeAll(async () => {
    chain = await startReplicatedChain(2);
    await chain.grow(2);
    const upstream = chain.nodes.map(({ url }) => ({ url, callsPerSecond: 50 }));
    const gateway = { nodeWaitMs: 0, ratePerAddress: 2 };
    const http = { trustedProxies: ['127.0.0.1'] };
    floodgate = await startFloodgate({ config: { upstream, gateway, http } });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.stop();
  });

  /** Runs a command and returns its exit code and output. */
  const run = (token: string, ...args: readonly string[]): Promise<{ code: number; text: string }> =>
    new Promise((resolve) => {
      const env = { ...process.env, FLOODGATE_TOKEN: token, FLOODGATE_URL: floodgate.url };
      execFile(process.execPath, [PROGRAM, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), text: stdout + stderr }),
      );
    });
  const created = async (...flags: readonly string[]): Promise<string> => {
    const { text } = await run('', 'token', 'create', '--data-dir', floodgate.dataDir, '--json', ...flags);
    return JSON.parse(text).token ?? JSON.parse(text).secret;
  };
  let client = 0;
  const fromAnyAddress = (): Promise<Answer> =>
    send(floodgate.gatewayUrl, {
      headers: { 'x-forwarded-for': `198.51.100.${client++ % 250}` },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_getBalance',
        params: [`0x${(nextAddress++).toString(16).padStart(40, '0')}`, 'latest'],
      },
    });

  it('drain and resume a node without a restart, but not the last healthy one', async () => {
    expect(await run(floodgate.token, 'nodes', 'drain', 'node-2')).toMatchObject({
      code: 0,
      text: expect.stringMatching(/^mainnet node-2 \(.*\): drained\n$/),
    });
    const { text } = await run(floodgate.token, 'nodes', 'list');
    expect(text).toMatch(/node-1 .*healthy/);
    expect(text).toMatch(/node-2 .*drained/);
    for (let i = 0; i < 5; i++)
      expect((await fromAnyAddress()).headers['x-floodgate-upstream']).toBe('node-1');
    const last = await run(floodgate.token, 'nodes', 'drain', 'node-1');
    expect(last).toMatchObject({
      code: 1,
      text: expect.stringMatching(/no other node of mainnet is healthy/),
    });
    expect((await run(floodgate.token, 'nodes', 'drain', 'node-9')).text).toMatch(
      /^floodgate: Network mainnet has no node node-9; /,
    );
    await run(floodgate.token, 'nodes', 'resume', 'node-2');
    await until('the resumed node to be healthy', async () =>
      /node-2 .*healthy/.test((await run(floodgate.token, 'nodes', 'list')).text),
    );
    expect(floodgate.output()).toMatch(/"node":"node-2".*"msg":"operator drained or resumed an upstream"/);
  });

  it('require a token for all accounts with nodes:write', async () => {
    const drain = (token?: string): Promise<Answer> =>
      send(`${floodgate.url}/operations/nodes/mainnet/node-1/drain`, {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      });
    expect((await drain()).status).toBe(401);
    expect((await drain('fg_unknown')).status).toBe(401);
    expect((await drain(await created('--all-accounts'))).status).toBe(403);
    expect((await drain(await created('--account', 'a', '--permission', 'nodes:write'))).status).toBe(403);
    const reader = await created('--all-accounts', '--permission', 'nodes:read');
    expect((await drain(reader)).status).toBe(403);
    expect((await run(reader, 'nodes', 'list')).code).toBe(0);
  });

  it('return the health of the server with health:read', async () => {
    const path = `${floodgate.url}/client/v4/health`;
    const health = (token?: string): Promise<Answer> =>
      send(path, { method: 'GET', headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
    expect((await health()).status).toBe(401);
    for (const flags of [[], ['--permission', 'nodes:write']])
      expect((await health(await created('--all-accounts', ...flags))).status).toBe(403);
    expect((await health(await created('--account', 'a', '--permission', 'health:read'))).status).toBe(403);
    await send(floodgate.gatewayUrl, { body: { jsonrpc: '2.0', id: 1, method: 'net_version' } });
    const reader = await created('--all-accounts', '--permission', 'health:read');
    const answer = await health(reader);
    expect(answer.status).toBe(200);
    const { json: document } = await send(`${floodgate.url}/client/v4/openapi.json`, { method: 'GET' });
    expect(new Conformance(document).faultsOf('GET', '/health', answer)).toEqual([]);
    const head = expect.any(Number);
    const past = await fetch(`${path}/history`, { headers: { authorization: `Bearer ${reader}` } });
    expect(await past.json()).toMatchObject({ success: true, result: expect.any(Array) });
    expect((await fetch(`${path}/history`)).status).toBe(401);
    const node = { health: 'healthy', head_block: head, lag_blocks: 0, failures: 0 };
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(answer.json).toMatchObject({
      result: {
        ready: true,
        checks: { store: 'ok', ingest: 'ok' },
        versions: { floodgate: version, node: process.versions.node },
        networks: [
          {
            network: 'mainnet',
            head_block: head,
            nodes: [
              { node: 'node-1', ...node },
              { node: 'node-2', ...node },
            ],
            index: { head_block: head, lag_blocks: 0, first_missing_block: null, failure: null },
            cache: { hits: expect.any(Number), misses: expect.any(Number) },
          },
        ],
        limited: { address_rate: expect.any(Number), unsent_bytes: 0 },
        http: { connections: expect.any(Number), connections_closed: { timeout: 0 } },
        stores: expect.arrayContaining([{ store: 'traces', bytes: expect.any(Number) }]),
      },
    });
    for (const { url } of chain.nodes) expect(JSON.stringify(answer.json)).not.toContain(url);
  });

  it('reject calls above the budget of all nodes with 429 and Retry-After', async () => {
    const refused = await until('a call above the budget of all nodes', async () => {
      const answers = await Promise.all(Array.from({ length: 100 }, fromAnyAddress));
      for (const { status, json } of answers)
        expect([200, 429]).toContain(json.result === undefined ? status : 200);
      return answers.find(({ json }) =>
        json.error?.message.includes('the call budget of the nodes is used up'),
      );
    });
    expect(refused).toMatchObject({ status: 429, json: { error: { code: -32005 } } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('apply the rate of an IPv6 client to its /64', async () => {
    const statuses = await until('a rejected call', async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          send(floodgate.gatewayUrl, {
            headers: { 'x-forwarded-for': `2001:db8:0:1::${i + 1}` },
            body: { jsonrpc: '2.0', id: 1, method: 'eth_chainId' },
          }),
        ),
      );
      const found = answers.map(({ status }) => status);
      return found.includes(429) && found;
    });
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(1);
  });
});
