import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RELAYED_ROWS } from '../../src/ethereum/gateway/index.ts';
import { connect } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { startInProcess } from '../support/startInProcess.ts';
import { type InterceptedNode, type Interceptor, startInterceptedNode } from './support/interceptedNode.ts';
import { call } from './support/send.ts';

const UNKNOWN = `0x${'9'.repeat(64)}`;
/** Polls use other ids. */
const isRelayed = (body: string): boolean => body.startsWith('{"jsonrpc":"2.0","id":1,');
const NOTHING = '{"jsonrpc":"2.0","id":1,"result":null}';
const UNCLE = { number: '0x1' };

describe('an object that a node lacks', () => {
  let chain: SharedChain;
  let nodes: readonly InterceptedNode[];
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    chain = await startSharedChain();
    nodes = await Promise.all([1, 2].map(() => startInterceptedNode(chain.anvil.url)));
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    for (const node of nodes) node.intercept = undefined;
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await chain?.anvil.stop();
  });

  async function start(count = 2): Promise<string> {
    const upstream = nodes.slice(0, count).map(({ url }) => url);
    const server = await startInProcess({ upstream }, {});
    stops.push(() => server.stop());
    return server.gatewayUrl;
  }

  const spoilAll = (spoil: Interceptor): void => {
    for (const node of nodes) node.intercept = spoil;
  };
  const countOf = (method: string): number =>
    nodes.reduce((sum, { counts }) => sum + (counts.get(method) ?? 0), 0);

  /** Parameters that refer to existing objects, for each method whose result may be null. */
  async function lookUps(): Promise<Record<string, readonly unknown[]>> {
    const node = connect(chain.anvil.url);
    const block = await node.call<{ hash: string; transactions: string[] }>(
      'eth_getBlockByNumber',
      '0x2',
      false,
    );
    const [transaction = ''] = block.transactions;
    const { from, nonce } = await node.call<{ from: string; nonce: string }>(
      'eth_getTransactionByHash',
      transaction,
    );
    return {
      eth_getBlockTransactionCountByHash: [block.hash],
      eth_getUncleCountByBlockHash: [block.hash],
      eth_getBlockByHash: [block.hash, false],
      eth_getTransactionByHash: [transaction],
      eth_getTransactionByBlockHashAndIndex: [block.hash, '0x0'],
      eth_getTransactionByBlockNumberAndIndex: ['0x2', '0x0'],
      eth_getTransactionReceipt: [transaction],
      eth_getUncleByBlockHashAndIndex: [block.hash, '0x0'],
      eth_getUncleByBlockNumberAndIndex: ['0x2', '0x0'],
      eth_getBlockReceipts: [block.hash],
      // A block below the head exists, so any other node is asked.
      eth_getBlockByNumber: ['0x2', false],
      eth_getBlockTransactionCountByNumber: ['0x2'],
      eth_getUncleCountByBlockNumber: ['0x2'],
      eth_getTransactionBySenderAndNonce: [from, nonce],
    };
  }

  it('is returned by every method if only the second node has it', async () => {
    const asked = await lookUps();
    const nullable = RELAYED_ROWS.filter((row) => row.nullable === true);
    expect(Object.keys(asked).sort()).toEqual(nullable.map(({ name }) => name).sort());
    const gateway = await start();
    const lacking = new Set<string>();
    spoilAll(({ body, methods: [method = ''] }, answer) => {
      if (!isRelayed(body) || asked[method] === undefined) return answer();
      if (!lacking.has(body)) {
        lacking.add(body);
        return NOTHING;
      }
      // anvil has no uncles.
      if (method.startsWith('eth_getUncleBy'))
        return `{"jsonrpc":"2.0","id":1,"result":${JSON.stringify(UNCLE)}}`;
      return answer();
    });
    const node = connect(chain.anvil.url);
    for (const [method, params] of Object.entries(asked)) {
      const expected = method.startsWith('eth_getUncleBy') ? UNCLE : await node.call(method, ...params);
      expect((await call(gateway, method, ...params)).json.result, method).toEqual(expected);
    }
    expect(lacking.size).toBe(Object.keys(asked).length);
  });

  it('is null if a second node does not have it either', async () => {
    const gateway = await start();
    const before = countOf('eth_getTransactionReceipt');
    expect((await call(gateway, 'eth_getTransactionReceipt', UNKNOWN)).json.result).toBeNull();
    expect(countOf('eth_getTransactionReceipt') - before).toBe(2);
  });

  it('is null if the second node fails', async () => {
    const gateway = await start();
    let relayed = 0;
    spoilAll(({ body, methods: [method = ''] }, answer) => {
      if (!isRelayed(body) || method !== 'eth_getTransactionByHash') return answer();
      return relayed++ === 0 ? NOTHING : '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"oops"}}';
    });
    expect((await call(gateway, 'eth_getTransactionByHash', UNKNOWN)).json).toMatchObject({ result: null });
    expect(relayed).toBe(2);
  });

  it('is null after one request with a single node', async () => {
    const gateway = await start(1);
    const before = countOf('eth_getTransactionReceipt');
    expect((await call(gateway, 'eth_getTransactionReceipt', UNKNOWN)).json.result).toBeNull();
    expect(countOf('eth_getTransactionReceipt') - before).toBe(1);
  });
});
