import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RELAYED_ROWS } from '../../src/ethereum/gateway/index.ts';
import { connect } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { type InterceptedNode, startInterceptedNode } from './support/interceptedNode.ts';
import { call } from './support/send.ts';

/** Sender of all transactions of the chain. */
const ADDRESS = '0xa0ee7a142d267c1f36714e4a8f75612f20a79720';
const SLOT = `0x${'0'.repeat(64)}`;
const UNKNOWN = `0x${'12'.repeat(32)}`;
const CALL = { from: ADDRESS, to: ADDRESS };

/** All state methods, with the parameters before the block. */
const METHODS: Readonly<Record<string, readonly unknown[]>> = {
  eth_getBalance: [ADDRESS],
  eth_getStorageAt: [ADDRESS, '0x0'],
  eth_getTransactionCount: [ADDRESS],
  eth_getCode: [ADDRESS],
  eth_call: [CALL],
  eth_estimateGas: [CALL],
  eth_getProof: [ADDRESS, [SLOT]],
  eth_createAccessList: [CALL],
  eth_simulateV1: [{ blockStateCalls: [{ calls: [CALL] }] }],
};

let chain: SharedChain;
/** Hash of block 3. */
let hash: string;
beforeAll(async () => {
  chain = await startSharedChain();
  hash = (await connect(chain.anvil.url).call<{ hash: string }>('eth_getBlockByNumber', '0x3', false)).hash;
});
afterAll(() => chain?.anvil.stop());

describe('a block hash as block of a state method', () => {
  let floodgate: Floodgate;
  beforeAll(async () => {
    floodgate = await startFloodgate({ upstream: chain.anvil.url });
  });
  afterAll(() => floodgate?.stop());

  it('is accepted by every method that accepts the object of EIP-1898', () => {
    const accepting = RELAYED_ROWS.filter(({ params }) =>
      params.some(({ kind }) => kind.allowed.includes('EIP-1898')),
    );
    const names = [...Object.keys(METHODS), 'eth_getBlockReceipts'];
    expect(accepting.map(({ name }) => name).sort()).toEqual(names.sort());
  });

  it.each(Object.entries(METHODS))('returns the response of the node for %s', async (method, params) => {
    const direct = await call(chain.anvil.url, method, ...params, { blockHash: hash });
    expect(direct.json).toHaveProperty('result');
    for (const block of [
      hash,
      hash.toUpperCase().replace('0X', '0x'),
      { blockHash: hash },
      { blockHash: hash, requireCanonical: true },
    ])
      expect((await call(floodgate.gatewayUrl, method, ...params, block)).json).toEqual(direct.json);
    const latest = await call(floodgate.gatewayUrl, method, ...params);
    if (method === 'eth_getBalance') expect(latest.json).not.toEqual(direct.json);
  });

  it.each([
    ['31 bytes', `0x${'1f'.repeat(31)}`],
    ['33 bytes', `0x${'1f'.repeat(33)}`],
    ['64 other letters', `0x${'g'.repeat(64)}`],
    ['a hash without 0x', '1f'.repeat(33)],
    ['a hash and a number', { blockHash: UNKNOWN, blockNumber: '0x1' }],
  ])('is rejected if it is %s', async (_, block) => {
    const { json } = await call(floodgate.gatewayUrl, 'eth_getBalance', ADDRESS, block);
    expect(json.error).toMatchObject({ code: -32602, message: expect.stringContaining('params[1]') });
  });

  it('is not interpreted as a number if it has leading zeros', async () => {
    const padded = `0x${'3'.padStart(64, '0')}`;
    const direct = await call(chain.anvil.url, 'eth_getBalance', ADDRESS, { blockHash: padded });
    const { json } = await call(floodgate.gatewayUrl, 'eth_getBalance', ADDRESS, padded);
    expect(json.error).toBeDefined();
    expect(json).toEqual(direct.json);
  });

  it('gets a result that is not cached, because the block may be replaced', async () => {
    for (let i = 0; i < 2; i++) {
      const { headers } = await call(floodgate.gatewayUrl, 'eth_getBalance', ADDRESS, hash);
      expect(headers['x-floodgate-cache']).toBe('miss');
    }
  });
});

describe('a block hash that not every node has', () => {
  const nodes: InterceptedNode[] = [];
  let floodgate: Floodgate;
  beforeAll(async () => {
    for (let i = 0; i < 2; i++) nodes.push(await startInterceptedNode(chain.anvil.url));
    floodgate = await startFloodgate({ upstream: nodes.map(({ url }) => url) });
  });
  afterAll(() => Promise.all([floodgate?.stop(), ...nodes.map((node) => node.stop())]));

  it('is requested from the other node, and an error of both is not cached', async () => {
    const gone = { code: -32_000, message: 'header for hash not found' };
    let refused = 0;
    const lacksBlock = (node: InterceptedNode): void => {
      node.intercept = ({ body }, answer) => {
        if (!body.includes(hash) || !body.includes('eth_getBalance')) return answer();
        refused++;
        return JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, error: gone });
      };
    };
    const ask = async () => (await call(floodgate.gatewayUrl, 'eth_getBalance', ADDRESS, hash)).json;
    const expected = await ask();
    expect(expected).toHaveProperty('result');
    for (const node of nodes) {
      lacksBlock(node);
      for (let i = 0; i < 5; i++) expect(await ask()).toEqual(expected);
      node.intercept = undefined;
    }
    expect(refused).toBeGreaterThan(0);
    nodes.forEach(lacksBlock);
    expect((await ask()).error).toEqual(gone);
    for (const node of nodes) node.intercept = undefined;
    expect(await ask()).toEqual(expected);
  });
});
