import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { startInProcess } from '../support/startInProcess.ts';
import { call } from './support/send.ts';

const NAMES = ['eth_coinbase', 'txpool_status', 'eth_newPendingTransactionFilter'];

describe('methods listed in gateway.extraMethods', () => {
  let chain: SharedChain;
  let floodgate: Floodgate;
  beforeAll(async () => {
    chain = await startSharedChain();
    const env = {
      FLOODGATE_GATEWAY_EXTRA_METHODS: NAMES.join(','),
      FLOODGATE_GATEWAY_METHODS: 'eth_chainId',
    };
    floodgate = await startFloodgate({ upstream: chain.anvil.url, env });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
  });

  it('are relayed unchanged in addition to gateway.methods, and logged at start', async () => {
    for (const method of ['eth_coinbase', 'txpool_status']) {
      const [direct, relayed] = [
        await call(chain.anvil.url, method),
        await call(floodgate.gatewayUrl, method),
      ];
      expect(direct.json).toHaveProperty('result');
      expect(relayed.json).toEqual(direct.json);
    }
    expect((await call(floodgate.gatewayUrl, 'eth_chainId')).json.result).toBe('0x7a69');
    expect((await call(floodgate.gatewayUrl, 'eth_blockNumber')).status).toBe(403);
    expect(floodgate.output()).toContain('extra methods are relayed without checks or caching');
    expect(floodgate.output()).toContain('txpool_status');
  });

  it('are sent to the node for each request and never cached', async () => {
    const ask = () => call(floodgate.gatewayUrl, 'eth_newPendingTransactionFilter');
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(new Set(answers.map(({ json }) => json.result)).size).toBe(3);
    for (const { headers } of answers) expect(headers['x-floodgate-cache']).toBeUndefined();
  });

  it('return the error of the node', async () => {
    const [direct, relayed] = [
      await call(chain.anvil.url, 'txpool_status', 1),
      await call(floodgate.gatewayUrl, 'txpool_status', 1),
    ];
    expect(relayed.json).toEqual(direct.json);
  });

  it('are listed in the OpenRPC document', async () => {
    const { json } = await call(floodgate.gatewayUrl, 'rpc.discover');
    expect(json.result.methods.map(({ name }: { name: string }) => name)).toEqual([
      'rpc.discover',
      'eth_chainId',
      ...NAMES,
    ]);
  });

  it.each(['debug_traceCall', 'eth_sendTransaction', 'eth_call', 'eth_coinbase,eth_coinbase'])(
    'cannot be %s: the server does not start',
    async (names) => {
      const flags = { upstream: [chain.anvil.url], 'gateway.extraMethods': names.split(',') };
      await expect(startInProcess(flags, {})).rejects.toThrow(/gateway\.extraMethods contains \w+, which is/);
    },
  );
});
