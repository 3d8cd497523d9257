import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../support/anvil.ts';
import { Random } from '../support/random.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { type InterceptedNode, type Interceptor, startInterceptedNode } from './support/interceptedNode.ts';
import { type ReplicatedChain, startReplicatedChain } from './support/replicatedChain.ts';
import { type Answer, call } from './support/send.ts';

const CALLS = Number(process.env['FAULTY_NODES_CALLS'] ?? 400);
const WORKERS = 8;
/** Small enough that some blocks are mined between the polls of two nodes. */
const CALLS_PER_BLOCK = 10;
const INTERNAL_ERROR = '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"oops"}}';

describe('a gateway with two of three nodes failing half of the calls', () => {
  let chain: ReplicatedChain;
  let nodes: readonly InterceptedNode[];
  let floodgate: Floodgate;
  beforeAll(async () => {
    chain = await startReplicatedChain(1);
    await chain.grow(5);
    const url = chain.nodes[0]?.url ?? '';
    nodes = await Promise.all([
      startInterceptedNode(url),
      startInterceptedNode(url),
      startInterceptedNode(url),
    ]);
    const args = ['--index-poll-interval-ms', '200'];
    floodgate = await startFloodgate({ upstream: nodes.map((node) => node.url), args });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await Promise.all((nodes ?? []).map((node) => node.stop()));
    await chain?.stop();
  });

  it.each<[string, Interceptor]>([
    ['internal errors', () => INTERNAL_ERROR],
    [
      'closed connections',
      (_request, _answer, response) => {
        response.destroy();
        return undefined;
      },
    ],
  ])('hides %s from clients while the head advances', async (_what, fails) => {
    const random = new Random(7);
    for (const node of nodes.slice(0, 2))
      node.intercept = (request, answer, response) =>
        // Polls succeed, so health checks do not remove these nodes from rotation.
        request.body.startsWith('{"jsonrpc":"2.0","id":1,') && random.chance(0.5)
          ? fails(request, answer, response)
          : answer();
    const direct = connect(chain.nodes[0]?.url ?? '');
    const { transactions } = await direct.call<{ transactions: string[] }>(
      'eth_getBlockByNumber',
      '0x3',
      false,
    );
    const ways: ((i: number) => Promise<Answer>)[] = [
      (i) => call(floodgate.gatewayUrl, 'eth_getBalance', `0x${i.toString(16).padStart(40, '0')}`, 'latest'),
      () => call(floodgate.gatewayUrl, 'eth_getBlockByNumber', 'latest', false),
      (i) =>
        call(floodgate.gatewayUrl, 'eth_call', { data: `0x${i.toString(16).padStart(8, '0')}` }, 'latest'),
      (i) => call(floodgate.gatewayUrl, 'eth_getTransactionReceipt', transactions[i % transactions.length]),
    ];
    const failed: string[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let i = next++; i < CALLS; i = next++) {
        if (i % CALLS_PER_BLOCK === 0) await direct.call('evm_mine');
        const way = ways[i % ways.length];
        const answer = await way?.(i);
        const expected = answer?.json.result ?? answer?.json.error.message;
        if (answer?.json.error !== undefined && !/^EVM error/.test(String(expected)))
          failed.push(answer.text);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    expect(failed).toEqual([]);
  });
});
