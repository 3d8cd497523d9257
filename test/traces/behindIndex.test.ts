import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type InterceptedNode, startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { send } from '../gateway/support/send.ts';
import { canListProcesses } from '../server/support/processes.ts';
import { startWorkersServer } from '../server/support/workersServer.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { referenceFilter } from '../support/plainFilter.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { callMethod } from './support/callMethod.ts';
import { callTraceFilter } from './support/callTraceFilter.ts';
import { type NodeChain, readChain } from './support/nodeChain.ts';

/** Number of indexed blocks; the node refuses to trace later ones at first. */
const INDEXED = 20;
const BLOCKS = 120;
const ANY = `0x${'ab'.repeat(20)}`;
const NOTHING = { status: '0', message: 'No transactions found', result: [] };

/** Returns the node's traces of a range of blocks. */
const plain = ({ traces }: NodeChain, fromBlock: number, toBlock = fromBlock): unknown[] =>
  referenceFilter(traces, {
    fromBlock,
    toBlock,
    fromAddresses: [],
    toAddresses: [],
    mode: 'intersection',
    after: 0,
    count: Number.POSITIVE_INFINITY,
  });

const withoutTags = (text: string): string => {
  const answers = JSON.parse(text);
  if (!Array.isArray(answers)) return text;
  // A poll requests latest, safe and finalized, in this order.
  return JSON.stringify(answers.map((answer, i) => (i === 0 ? answer : { ...answer, result: null })));
};

const ARGS = ['--index-from', '0', '--index-poll-interval-ms', '50'];
const KINDS = [
  ['one process', (upstream: string) => startFloodgate({ upstream, args: ARGS })],
  ['workers', (upstream: string) => startWorkersServer({ upstream, args: ARGS }, 2)],
] as const;

describe.each(KINDS)('an index that lags behind its chain, %s', (kind, start) => {
  const isSkipped = kind === 'workers' && !canListProcesses;
  let anvil: Anvil;
  /** A proxy of a real anvil that can reject trace requests. */
  let node: InterceptedNode;
  let floodgate: Floodgate;
  let chain: NodeChain;

  beforeAll(async () => {
    if (isSkipped) return;
    anvil = await startAnvil();
    node = await startInterceptedNode(anvil.url);
    const traffic = await createTraffic({ url: anvil.url, seed: 7 });
    await traffic.run({ steps: INDEXED });
    floodgate = await start(node.url);
    await until('all blocks so far to be indexed', async () => (await newest())?.blockNumber === INDEXED);
    refuseTraces();
    await traffic.run({ steps: BLOCKS - INDEXED });
    chain = await readChain(anvil.url);
    expect(chain.head).toBe(BLOCKS);
    expect(chain.tags.finalized).toBeGreaterThan(INDEXED);
    await until('the new head to be known', async () => {
      const { error } = await callTraceFilter(floodgate.gatewayUrl, {
        fromBlock: chain.head,
        toBlock: chain.head,
      });
      return error?.code === -32001;
    });
  });
  afterAll(() => Promise.all([floodgate?.stop(), node?.stop(), anvil?.stop()]));

  const newest = async () => (await callTraceFilter(floodgate.gatewayUrl, { count: 1 })).result?.[0];
  const explorer = async (query: string) => {
    const url = `${floodgate.gatewayUrl}/api?module=account&action=txlistinternal&${query}`;
    return (await send(url, { method: 'GET' })).json;
  };

  function refuseTraces(): void {
    node.intercept = async ({ methods, body }, answer) => {
      if (!methods.some((method) => /trace/.test(method))) return answer();
      const error = { code: -32_000, message: 'tracing failed' };
      const refuse = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, error });
      const requests = JSON.parse(body);
      return JSON.stringify(Array.isArray(requests) ? requests.map(refuse) : refuse(requests));
    };
  }

  describe('while the node does not trace the next block', () => {
    it.skipIf(isSkipped)('returns -32001 for finalized and safe instead of the index head', async () => {
      const { finalized, safe } = chain.tags;
      for (const [tag, number] of [
        ['finalized', finalized],
        ['safe', safe],
      ] as const) {
        const { error } = await callTraceFilter(floodgate.gatewayUrl, { fromBlock: tag, toBlock: tag });
        expect(error).toMatchObject({ code: -32001, data: { blockNumber: number } });
        const block = await callMethod(floodgate.gatewayUrl, 'trace_block', tag);
        expect(block.error).toMatchObject({ code: -32001, data: { blockNumber: number } });
        // The range is valid: `latest` is the node's head here.
        const open = await callTraceFilter(floodgate.gatewayUrl, { fromBlock: tag });
        expect(open.error).toMatchObject({ code: -32001, data: { blockNumber: number } });
        const before = await callTraceFilter(floodgate.gatewayUrl, { fromBlock: 1, toBlock: tag });
        expect(before.error).toMatchObject({ code: -32001, data: { blockNumber: INDEXED + 1 } });
      }
      expect((await newest())?.blockNumber).toBe(INDEXED);
      const none = await callTraceFilter(floodgate.gatewayUrl, { fromBlock: 'finalized', count: 0 });
      expect(none.result).toEqual([]);
    });

    it.skipIf(isSkipped)(
      'reports the blocks up to a tag as missing in the history of an address',
      async () => {
        const { finalized, safe } = chain.tags;
        for (const method of ['floodgate_addressTraces', 'floodgate_addressSummary'])
          for (const [bounds, toBlock] of [
            [{ fromBlock: 1, toBlock: 'finalized' }, finalized],
            [{ fromBlock: 1, toBlock: 'safe' }, safe],
          ] as const) {
            const { result } = await callMethod(floodgate.gatewayUrl, method, { address: ANY, ...bounds });
            const range = { fromBlock: 1, toBlock };
            expect(result).toMatchObject({ range, missing: [[INDEXED + 1, toBlock]] });
          }
        const after = { address: ANY, fromBlock: 'finalized' };
        const { result } = await callMethod(floodgate.gatewayUrl, 'floodgate_addressTraces', after);
        const range = { fromBlock: finalized, toBlock: chain.head };
        expect(result).toMatchObject({ range, missing: [[finalized, chain.head]] });
      },
    );

    it.skipIf(isSkipped)('reports missing blocks of a txlistinternal range with status 2', async () => {
      const { head } = chain;
      for (const whose of ['', `address=${ANY}&`])
        for (const [query, missing] of [
          [`startblock=${head}&endblock=${head}`, [[head, head]]],
          [`startblock=${INDEXED + 1}&endblock=${head}`, [[INDEXED + 1, head]]],
          [`startblock=${head}`, [[head, head]]],
          [`startblock=${head - 3}&endblock=latest`, [[head - 3, head]]],
          [`startblock=${head}&endblock=99999999`, [[head, head]]],
          [`startblock=${INDEXED + 5}&endblock=${head + 5}`, [[INDEXED + 5, head]]],
          [`startblock=${INDEXED}&endblock=${INDEXED + 2}&sort=desc`, [[INDEXED + 1, INDEXED + 2]]],
        ] as const)
          expect(await explorer(whose + query), query).toMatchObject({ status: '2', missing });
      const before = await explorer(`startblock=1&endblock=${INDEXED}`);
      expect(before.status).toBe('1');
      // `latest` is the newest indexed block here.
      for (const latest of ['', '&endblock=latest', '&endblock=99999999'])
        expect(await explorer(`startblock=1${latest}`)).toEqual(before);
      for (const past of [head + 1, head + 1_000, 99_999_999])
        expect(await explorer(`startblock=${past}&endblock=${past}`)).toEqual(NOTHING);
    });

    it.skipIf(isSkipped)(
      'reports the missing block of a txlistinternal transaction with status 2',
      async () => {
        const last = chain.traces.findLast(({ transactionHash }) => transactionHash !== null);
        const answer = await explorer(`txhash=${last?.transactionHash}`);
        const block = last?.blockNumber;
        expect(answer).toMatchObject({ status: '2', result: [], missing: [[block, block]] });
      },
    );
  });

  describe('after the node traces again', () => {
    beforeAll(() => {
      if (!isSkipped) node.intercept = undefined;
    });

    it.skipIf(isSkipped)('fetches the blocks of finalized and safe', async () => {
      const { finalized, safe } = chain.tags;
      for (const [tag, number] of [
        ['finalized', finalized],
        ['safe', safe],
      ] as const) {
        const { result } = await callTraceFilter(floodgate.gatewayUrl, { fromBlock: tag, toBlock: tag });
        expect(result).toEqual(plain(chain, number));
        const block = await callMethod(floodgate.gatewayUrl, 'trace_block', tag);
        expect(block.result).toEqual(plain(chain, number));
      }
      const range = { fromBlock: finalized, toBlock: 'latest', count: 200 };
      const { result } = await callTraceFilter(floodgate.gatewayUrl, range);
      expect(result).toEqual(plain(chain, finalized, chain.head).slice(0, 200));
    });

    it.skipIf(isSkipped)('returns txlistinternal for a block as soon as the node has it', async () => {
      const traffic = await createTraffic({ url: anvil.url, seed: 8 });
      for (let i = 0; i < 10; i++) {
        const [made] = await traffic.run({ steps: 1 });
        const number = made?.number ?? 0;
        const query = i % 2 === 0 ? `startblock=${number}&endblock=${number}` : `startblock=${number}`;
        const answer = await explorer(query);
        const isKnown = await explorer(`startblock=${number}&endblock=${number}`);
        expect(answer).toEqual(isKnown);
        expect(['0', '1']).toContain(answer.status);
        expect((await callTraceFilter(floodgate.gatewayUrl, { count: 1 })).result?.[0]?.blockNumber).toBe(
          number,
        );
      }
    });
  });
});

describe('a node without safe and finalized blocks', () => {
  let anvil: Anvil;
  let node: InterceptedNode;
  let floodgate: Floodgate | undefined;
  beforeAll(async () => {
    anvil = await startAnvil();
    await (await createTraffic({ url: anvil.url, seed: 7 })).run({ steps: INDEXED });
    node = await startInterceptedNode(anvil.url);
    node.intercept = async ({ methods }, answer) =>
      methods[0] === 'eth_getBlockByNumber' && methods.length === 3 ? withoutTags(await answer()) : answer();
  });
  afterEach(async () => {
    await floodgate?.stop();
    floodgate = undefined;
  });
  afterAll(() => Promise.all([node.stop(), anvil.stop()]));

  it.each(['node', 'depth:5'])(
    'causes -32001 for both tags in every method with finality %s',
    async (finality) => {
      floodgate = await startFloodgate({ upstream: node.url, args: [...ARGS, '--index-finality', finality] });
      const { gatewayUrl } = floodgate;
      for (const tag of ['safe', 'finalized']) {
        const bound = { fromBlock: tag, toBlock: tag };
        const message = `no node reports a ${tag} block`;
        for (const [method, params] of [
          ['trace_filter', bound],
          ['trace_block', tag],
          ['floodgate_addressTraces', { address: ANY, ...bound }],
          ['floodgate_addressSummary', { address: ANY, toBlock: tag }],
        ] as const) {
          const { error } = await callMethod(gatewayUrl, method, params);
          expect(error, method).toMatchObject({ code: -32001, message: expect.stringContaining(message) });
        }
      }
      expect((await callTraceFilter(gatewayUrl, { count: 1 })).result).toHaveLength(1);
    },
  );
});
