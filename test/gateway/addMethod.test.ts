import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { METHODS, type MethodRow, methodsTable, RELAYED_ROWS } from '../../src/ethereum/gateway/index.ts';
import { overLimit } from '../../src/ethereum/jsonrpc/index.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { startInProcess } from '../support/startInProcess.ts';
import { call } from './support/send.ts';

const [{ params }] = RELAYED_ROWS.filter(({ name }) => name === 'eth_getBlockByNumber') as [MethodRow]; // it is there

/** What CONTRIBUTING.md says is all that it takes to add a method. */
const ADDED: MethodRow = {
  name: 'ots_getBlockDetails',
  summary: 'What an explorer shows of a block.',
  params: params.slice(0, 1),
  limits: 'none from the end',
  checkLimits([block]) {
    if (block === '0x0') throw overLimit('a limit of the row', 1, 0);
  },
  scope: { of: 'block', param: 0 },
  result: 'object',
  nullable: true,
};

describe('a row that is added to the table of methods', () => {
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

  it('is on the allow-list, which else has it not', async () => {
    expect((await call(server.gatewayUrl, ADDED.name, '0x1')).status).toBe(200);
    expect((await call(server.gatewayUrl, 'eth_chainId')).status).toBe(403);
    expect((await call(own.gatewayUrl, ADDED.name, '0x1')).status).toBe(403);
    const config = loadConfig({ environment: {}, flags: { 'gateway.methods': [ADDED.name] } });
    expect(config.gateway.methods).toEqual([ADDED.name]);
    await expect(startInProcess({ 'gateway.methods': [ADDED.name] }, {})).rejects.toThrow(
      /gateway.methods names ots_getBlockDetails/,
    );
  });

  it('has its parameters read and its limits kept', async () => {
    for (const given of [[], ['newest'], ['0x1', true]])
      expect((await call(server.gatewayUrl, ADDED.name, ...given)).json.error.code).toBe(-32602);
    expect((await call(server.gatewayUrl, ADDED.name, 0)).json.error.code).toBe(-32005);
  });

  it('is relayed, in canonical form, and cached as its scope says', async () => {
    const direct = await call(chain.anvil.url, ADDED.name, '0x2');
    expect(direct.json.result.block.number).toBe('0x2');
    const first = await call(server.gatewayUrl, ADDED.name, 2);
    const second = await call(server.gatewayUrl, ADDED.name, '0x002');
    expect([first, second].map(({ json }) => json)).toEqual([direct.json, direct.json]);
    expect(first.headers['x-floodgate-cache']).toBe('miss');
    expect(second.headers['x-floodgate-cache']).toBe('hit');
  });

  it('is in the documentation', () => {
    const line =
      '| `ots_getBlockDetails` | block | nodes | for good once its block is final and two nodes say the same, before that as long as the head | none from the end | What an explorer shows of a block. |';
    expect(methodsTable([...METHODS, ADDED])).toContain(line);
    expect(methodsTable(METHODS)).not.toContain(line);
  });
});
