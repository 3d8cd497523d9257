import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { METHODS, type MethodRow, methodsTable, RELAYED_ROWS } from '../../src/ethereum/gateway/index.ts';
import { overLimit } from '../../src/ethereum/jsonrpc/index.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { startInProcess } from '../support/startInProcess.ts';
import { call } from './support/send.ts';

const [{ params }] = RELAYED_ROWS.filter(({ name }) => name === 'eth_getBalance') as [MethodRow]; // always present

const ADDRESS = `0x${'ab'.repeat(20)}`;

/** The one row that adds a method, as described in CONTRIBUTING.md. */
const ADDED: MethodRow = {
  name: 'eth_getAccountInfo',
  summary: 'Balance, nonce and code of an account.',
  params,
  limits: 'none from the end',
  checkLimits([, block]) {
    if (block === '0x0') throw overLimit('a limit of the row', 1, 0);
  },
  scope: { of: 'block', param: 1 },
  result: 'object',
  nullable: true,
};

describe('a row added to the method table', () => {
  let chain: SharedChain;
  let server: Awaited<ReturnType<typeof startInProcess>>;
  let own: typeof server;
  beforeAll(async () => {
    chain = await startSharedChain();
    const flags = { upstream: [chain.anvil.url] };
    [server, own] = await Promise.all([
      startInProcess({ ...flags, 'gateway.methods': [ADDED.name] }, { table: [...METHODS, ADDED] }),
      startInProcess(flags, {}),
    ]);
  });
  afterAll(async () => {
    await Promise.all([server?.stop(), own?.stop()]);
    await chain?.anvil.stop();
  });

  it('adds its method to the allow-list', async () => {
    expect((await call(server.gatewayUrl, ADDED.name, ADDRESS, '0x1')).status).toBe(200);
    expect((await call(server.gatewayUrl, 'eth_chainId')).status).toBe(403);
    expect((await call(own.gatewayUrl, ADDED.name, ADDRESS, '0x1')).status).toBe(403);
    const config = loadConfig({ environment: {}, flags: { 'gateway.methods': [ADDED.name] } });
    expect(config.gateway.methods).toEqual([ADDED.name]);
    await expect(startInProcess({ 'gateway.methods': [ADDED.name] }, {})).rejects.toThrow(
      /gateway.methods contains eth_getAccountInfo/,
    );
  });

  it('checks the parameters and limits of its method', async () => {
    for (const given of [[], [ADDRESS, 'newest'], [ADDRESS, '0x1', true]])
      expect((await call(server.gatewayUrl, ADDED.name, ...given)).json.error.code).toBe(-32602);
    expect((await call(server.gatewayUrl, ADDED.name, ADDRESS, 0)).json.error.code).toBe(-32005);
  });

  it('relays its method in canonical form and caches the result according to its scope', async () => {
    const direct = await call(chain.anvil.url, ADDED.name, ADDRESS, '0x2');
    expect(direct.json.result).toHaveProperty('balance');
    const first = await call(server.gatewayUrl, ADDED.name, ADDRESS, 2);
    const second = await call(server.gatewayUrl, ADDED.name, ADDRESS, '0x002');
    expect([first, second].map(({ json }) => json)).toEqual([direct.json, direct.json]);
    expect(first.headers['x-floodgate-cache']).toBe('miss');
    expect(second.headers['x-floodgate-cache']).toBe('hit');
  });

  it('adds a line to the documentation of methods', () => {
    const line =
      '| `eth_getAccountInfo` | address, [block] | nodes | permanently once its block is final and two nodes agree, until the head changes before that | none from the end | Balance, nonce and code of an account. |';
    expect(methodsTable([...METHODS, ADDED])).toContain(line);
    expect(methodsTable(METHODS)).not.toContain(line);
  });
});
