import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RELAYED_ROWS } from '../../src/ethereum/gateway/index.ts';
import { connect, type Node } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { call } from './support/send.ts';

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
const ZERO_HASH = `0x${'0'.repeat(64)}`;

interface Block {
  readonly hash: string;
  readonly number: string;
  readonly transactions: readonly string[];
}

describe('relayed methods', () => {
  let chain: SharedChain;
  let node: Node;
  let floodgate: Floodgate;
  let block: Block;
  let transaction: string;
  let sender: string;

  beforeAll(async () => {
    chain = await startSharedChain();
    node = connect(chain.anvil.url);
    floodgate = await startFloodgate({ upstream: chain.anvil.url });
    block = await node.call<Block>('eth_getBlockByNumber', '0x1', false);
    transaction = block.transactions[0] ?? '';
    sender = (await node.call<{ from: string }>('eth_getTransactionByHash', transaction)).from;
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
  });

  /** Parameters for which the node returns a result, by method. */
  const examples = (): Record<string, readonly unknown[]> => ({
    web3_clientVersion: [],
    web3_sha3: ['0x68656c6c6f'],
    net_version: [],
    net_listening: [],
    eth_syncing: [],
    eth_mining: [],
    eth_gasPrice: [],
    eth_feeHistory: ['0xa', 'latest', [10, 50.5]],
    eth_blockNumber: [],
    eth_chainId: [],
    eth_getBalance: [ZERO_ADDRESS, '0x1'],
    eth_getStorageAt: [ZERO_ADDRESS, '0x0', 'latest'],
    eth_getTransactionCount: [ZERO_ADDRESS, 'pending'],
    eth_getBlockTransactionCountByHash: [block.hash],
    eth_getBlockTransactionCountByNumber: ['0x1'],
    eth_getUncleCountByBlockHash: [block.hash],
    eth_getUncleCountByBlockNumber: ['0x1'],
    eth_getCode: [ZERO_ADDRESS, 'latest'],
    eth_sendRawTransaction: ['0x1234'],
    eth_call: [{ to: ZERO_ADDRESS, data: '0x' }, 'latest'],
    eth_estimateGas: [{ from: ZERO_ADDRESS, to: ZERO_ADDRESS }],
    eth_getBlockByHash: [block.hash, true],
    eth_getBlockByNumber: ['0x1', true],
    eth_getTransactionByHash: [transaction],
    eth_getTransactionByBlockHashAndIndex: [block.hash, '0x0'],
    eth_getTransactionByBlockNumberAndIndex: ['0x1', '0x0'],
    eth_getTransactionReceipt: [transaction],
    eth_getUncleByBlockHashAndIndex: [block.hash, '0x0'],
    eth_getUncleByBlockNumberAndIndex: ['0x1', '0x0'],
    eth_getLogs: [{ fromBlock: '0x0', toBlock: 'latest' }],
    eth_getWork: [],
    eth_getProof: [ZERO_ADDRESS, [ZERO_HASH], 'latest'],
    eth_maxPriorityFeePerGas: [],
    eth_blobBaseFee: [],
    eth_getBlockReceipts: ['0x1'],
    eth_createAccessList: [{ from: ZERO_ADDRESS, to: ZERO_ADDRESS }, 'latest'],
    eth_simulateV1: [{ blockStateCalls: [{ calls: [{ from: ZERO_ADDRESS, to: ZERO_ADDRESS }] }] }, 'latest'],
    eth_getTransactionBySenderAndNonce: [sender, '0x0'],
  });

  it.each(RELAYED_ROWS.map(({ name }) => name))('%s returns the response of the node', async (method) => {
    const params = examples()[method] ?? [];
    const direct = await call(chain.anvil.url, method, ...params);
    const relayed = await call(floodgate.gatewayUrl, method, ...params);
    expect(relayed.status).toBe(200);
    expect(relayed.json).toEqual(direct.json);
    if (!['eth_sendRawTransaction', 'eth_getWork', 'eth_mining'].includes(method))
      expect(relayed.json).toHaveProperty('result');
  });

  it('every relayed method has an example in this file', () => {
    expect(Object.keys(examples()).sort()).toEqual(RELAYED_ROWS.map(({ name }) => name).sort());
  });

  it('eth_feeHistory returns the numbers of the node digit by digit', async () => {
    const direct = await call(chain.anvil.url, 'eth_feeHistory', '0x5', 'latest', [1, 99]);
    const relayed = await call(floodgate.gatewayUrl, 'eth_feeHistory', '0x5', 'latest', [1, 99]);
    const resultOf = (text: string): string => /"result":.*/.exec(text)?.[0] ?? '';
    expect(resultOf(relayed.text)).toBe(resultOf(direct.text));
  });

  it('parameters are sent to the node in canonical form', async () => {
    const { gatewayUrl } = floodgate;
    const plain = await call(gatewayUrl, 'eth_getBlockByNumber', '0x1', false);
    expect((await call(gatewayUrl, 'eth_getBlockByNumber', 1)).json).toEqual(plain.json);
    expect((await call(gatewayUrl, 'eth_getBlockByNumber', '0x0001', null)).json).toEqual(plain.json);
    const byHash = await call(gatewayUrl, 'eth_getBlockByHash', block.hash.toUpperCase().replace('0X', '0x'));
    expect(byHash.json).toEqual(plain.json);
  });

  const limit = (max: number, requested: number) => ({ code: -32005, data: { limit: max, requested } });
  const invalid = (...words: string[]) => ({
    code: -32602,
    message: expect.stringMatching(new RegExp(words.join('.*'))),
  });
  it.each<[string, [method: string, ...params: unknown[]], object]>([
    ['fees of 11 blocks', ['eth_feeHistory', '0xb', 'latest', []], limit(10, 11)],
    [
      '801 blocks of logs',
      ['eth_getLogs', { fromBlock: '0x1', toBlock: '0x321' }],
      {
        ...limit(800, 801),
        message: 'eth_getLogs: 801 blocks requested. Max range: 800. Try with this block range [0x1, 0x320]',
      },
    ],
    [
      'logs of a reversed range',
      ['eth_getLogs', { fromBlock: '0x2', toBlock: '0x1' }],
      invalid('fromBlock 2'),
    ],
    ['logs of the pending block', ['eth_getLogs', { fromBlock: 'pending' }], invalid('fromBlock', 'pending')],
    [
      'logs by hash and number',
      ['eth_getLogs', { blockHash: ZERO_HASH, fromBlock: '0x1' }],
      invalid('blockHash', 'fromBlock'),
    ],
    ['an unknown member of a filter', ['eth_getLogs', { from: '0x1' }], invalid('unknown', '"from"')],
    ['five topics', ['eth_getLogs', { topics: [null, null, null, null, null] }], invalid('topics', '4')],
    ['a short topic', ['eth_getLogs', { topics: ['0x12'] }], invalid('topics\\[0\\]', 'hash', '0x12')],
    ['a missing address', ['eth_getBalance'], invalid('params\\[0\\]', 'address', 'missing')],
    ['a short address', ['eth_getBalance', '0x12', 'latest'], invalid('address', '0x12')],
    ['an unknown block tag', ['eth_getBalance', ZERO_ADDRESS, 'newest'], invalid('latest', 'newest')],
    ['a decimal number', ['eth_getBlockByNumber', '12', false], invalid('block', '"12"')],
    ['a negative number', ['eth_getBlockByNumber', -1, false], invalid('block', '-1')],
    ['a fraction', ['eth_getBlockByNumber', 1.5, false], invalid('block', '1.5')],
    ['a number beyond 2^53', ['eth_getBlockByNumber', '0x20000000000000', false], invalid('block')],
    ['too many parameters', ['eth_chainId', 1], invalid('at most 0', 'has 1')],
    ['a string as boolean', ['eth_getBlockByNumber', '0x1', 'yes'], invalid('true or false')],
    ['data with an odd number of digits', ['web3_sha3', '0x123'], invalid('even')],
    ['an unknown member of a call', ['eth_call', { foo: 1, to: ZERO_ADDRESS }], invalid('unknown', '"foo"')],
    ['__proto__ in a call', ['eth_call', JSON.parse('{"__proto__":{}}')], invalid('unknown', '__proto__')],
    ['decreasing percentiles', ['eth_feeHistory', 1, 'latest', [2, 1]], invalid('rising')],
    ['257 simulated blocks', ['eth_simulateV1', { blockStateCalls: Array(257).fill({}) }], limit(256, 257)],
    [
      '1,001 simulated calls',
      [
        'eth_simulateV1',
        { blockStateCalls: [{ calls: Array(500).fill({}) }, { calls: Array(501).fill({}) }] },
      ],
      limit(1000, 1001),
    ],
    ['an unknown member of a simulation', ['eth_simulateV1', { blocks: [] }], invalid('unknown', '"blocks"')],
    [
      'receipts of an invalid block hash',
      ['eth_getBlockReceipts', `0x${'g'.repeat(64)}`],
      invalid('hash', '0xggg'),
    ],
    [
      'receipts by hash and number',
      ['eth_getBlockReceipts', { blockHash: ZERO_HASH, blockNumber: '0x1' }],
      invalid('either blockHash or blockNumber'),
    ],
    ['an invalid nonce', ['eth_getTransactionBySenderAndNonce', ZERO_ADDRESS, 'x'], invalid('nonce', '"x"')],
    [
      'logs of 1,001 addresses',
      ['eth_getLogs', { address: Array(1001).fill(ZERO_ADDRESS) }],
      invalid('1000'),
    ],
  ])('a request with %s is rejected with a specific error', async (_what, asked, error) => {
    const answer = await call(floodgate.gatewayUrl, ...asked);
    expect(answer.status).toBe(200);
    expect(answer.json.error).toMatchObject(error);
  });

  it.each<[string, object]>([
    ['800 blocks', { fromBlock: '0x0', toBlock: '0x31f' }],
    ['a block hash', {}],
    ['the default range', {}],
    ['earliest to latest', { fromBlock: 'earliest', toBlock: 'latest' }],
  ])('eth_getLogs returns logs of %s', async (what, filter) => {
    const asked = what === 'a block hash' ? { blockHash: block.hash } : filter;
    const answer = await call(floodgate.gatewayUrl, 'eth_getLogs', asked);
    expect(answer.json.result).toBeInstanceOf(Array);
  });

  it('eth_getBlockReceipts accepts a number, a hash and an object with a hash', async () => {
    const { gatewayUrl } = floodgate;
    const byNumber = await call(gatewayUrl, 'eth_getBlockReceipts', '0x1');
    expect(byNumber.json.result[0]).toMatchObject({ blockHash: block.hash, transactionHash: transaction });
    for (const named of [block.hash, { blockHash: block.hash }, '0x0001', 1])
      expect((await call(gatewayUrl, 'eth_getBlockReceipts', named)).json).toEqual(byNumber.json);
  });

  it('errors of the node keep their code, message and data', async () => {
    const reverts = { data: '0x60006000fd', from: ZERO_ADDRESS };
    const direct = await call(chain.anvil.url, 'eth_call', reverts, 'latest');
    const relayed = await call(floodgate.gatewayUrl, 'eth_call', reverts, 'latest');
    expect(direct.json.error.code).toBe(3);
    expect(relayed.json).toEqual(direct.json);
  });
});
