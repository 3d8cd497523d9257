import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type InterceptedNode, type Interceptor, startInterceptedNode } from './support/interceptedNode.ts';
import { type Answer, call, send } from './support/send.ts';

const LIMIT_BYTES = 2 * 1024 * 1024;
const ARGS = ['--gateway-max-answer-bytes', String(LIMIT_BYTES), '--index-poll-interval-ms', '100'];
const NODES = ['node-1', 'node-2', 'node-3'];
/** Exceeds the three failures that remove a node from rotation: oversized results must not count as node failures. */
const REQUESTS = 6;
const HASH = `0x${'5'.repeat(64)}`;

const OVERSIZED = `{"jsonrpc":"2.0","id":1,"result":"0x${'61'.repeat(LIMIT_BYTES / 2)}"}`;
const SMALL = '{"jsonrpc":"2.0","id":1,"result":"0x61"}';

/** Replaces the response to one method and sends it with content-length; others are forwarded to the real node. */
const withLength =
  (method: string, text = OVERSIZED): Interceptor =>
  ({ methods }, answer, response) => {
    if (methods[0] !== method) return answer();
    response.writeHead(200, { 'content-length': text.length }).end(text);
    return undefined;
  };

/** Replaces the response to one method and sends it in chunks, without content-length. */
const inChunks =
  (method: string, text = OVERSIZED): Interceptor =>
  ({ methods }, answer, response) => {
    if (methods[0] !== method) return answer();
    response.on('error', () => undefined);
    for (let at = 0; at < text.length; at += 65_536) response.write(text.slice(at, at + 65_536));
    response.end();
    return undefined;
  };

let nextNumber = 2 ** 42;
const address = (): string => `0x${(nextNumber++).toString(16).padStart(40, '0')}`;
/** Returns the parameters of a new, distinct eth_call. */
const anyCall = (block: string | { readonly blockHash: string } = 'latest') =>
  [{ to: address(), data: '0x' }, block] as const;

const refusal = {
  jsonrpc: '2.0',
  id: 1,
  error: {
    code: -32005,
    message: expect.stringContaining(`exceeds ${LIMIT_BYTES} bytes`),
    data: { limit: LIMIT_BYTES },
  },
};

interface NodeMetric {
  readonly metric: string;
  readonly node: string;
  readonly value: number;
}

async function says(floodgate: Floodgate, { metric, node, value }: NodeMetric): Promise<boolean> {
  const page = await (await fetch(`${floodgate.url}/metrics`)).text();
  return page.includes(`${metric}{network="mainnet",node="${node}"} ${value}\n`);
}

const isUp = (floodgate: Floodgate, node: string): Promise<boolean> =>
  says(floodgate, { metric: 'floodgate_upstream_up', node, value: 1 });

const allAreUp = async (floodgate: Floodgate, nodes = NODES): Promise<boolean> => {
  const up = await Promise.all(nodes.map((node) => isUp(floodgate, node)));
  return !up.includes(false);
};

/** Sends other calls until every node has served one; none may fail. */
async function everyNodeAnswersOthers(floodgate: Floodgate): Promise<void> {
  const seen = new Set<unknown>();
  const work = async (): Promise<void> => {
    while (seen.size < NODES.length) {
      const { json, headers } = await call(floodgate.gatewayUrl, 'eth_getBalance', address(), 'latest');
      expect(json).toMatchObject({ result: '0x0' });
      seen.add(headers['x-floodgate-upstream']);
    }
  };
  await Promise.all(Array.from({ length: 12 }, work));
}

describe('results above the limit with three nodes', () => {
  let chain: SharedChain;
  let nodes: readonly InterceptedNode[];
  let floodgate: Floodgate;

  beforeAll(async () => {
    chain = await startSharedChain();
    nodes = await Promise.all(NODES.map(() => startInterceptedNode(chain.anvil.url)));
    floodgate = await startFloodgate({ upstream: nodes.map(({ url }) => url), args: ARGS });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await Promise.all((nodes ?? []).map((node) => node.stop()));
    await chain?.anvil.stop();
  });
  beforeEach(async () => {
    spoilAll(undefined);
    await until('all nodes to be healthy', () => allAreUp(floodgate));
  });

  const spoilAll = (spoil: Interceptor | undefined): void => {
    for (const node of nodes) node.intercept = spoil;
  };
  const asked = (method: string): number =>
    nodes.reduce((sum, { counts }) => sum + (counts.get(method) ?? 0), 0);
  /** Number of hedged requests, which occur on a slow machine and add to the request counts. */
  const hedges = async (): Promise<number> => {
    const page = await (await fetch(`${floodgate.url}/metrics`)).text();
    const series = page.matchAll(/^floodgate_upstream_hedges_total\{.*method="eth_call"\} (\d+)$/gm);
    return [...series].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const removalsNoted = (): number => floodgate.output().split('upstream removed from rotation').length;

  it.each<[string, (method: string) => Interceptor, (params: readonly unknown[]) => Promise<Answer>]>([
    ['with content-length', withLength, (params) => call(floodgate.gatewayUrl, 'eth_call', ...params)],
    [
      'in a batch',
      inChunks,
      async (params) => {
        const body = [{ jsonrpc: '2.0', id: 1, method: 'eth_call', params }];
        const answer = await send(floodgate.gatewayUrl, { body });
        return { ...answer, json: answer.json[0] };
      },
    ],
  ])(
    '%s are requested from two nodes, fail only their request, and fail again without a node request',
    async (_how, spoil, ask) => {
      await everyNodeAnswersOthers(floodgate);
      const notedBefore = removalsNoted();
      spoilAll(spoil('eth_call'));
      for (let i = 0; i < REQUESTS; i++) {
        const params = anyCall();
        const before = asked('eth_call');
        const hedgesBefore = await hedges();
        expect((await ask(params)).json).toEqual(refusal);
        const first = asked('eth_call');
        expect(first - before).toBeGreaterThanOrEqual(2);
        expect(first - before - ((await hedges()) - hedgesBefore)).toBeLessThanOrEqual(2);
        expect((await ask(params)).json).toEqual(refusal);
        expect(asked('eth_call')).toBe(first);
      }
      expect(await allAreUp(floodgate)).toBe(true);
      expect(removalsNoted()).toBe(notedBefore);
      await everyNodeAnswersOthers(floodgate);
    },
  );

  it('are remembered only for their block and request', async () => {
    spoilAll(withLength('eth_call'));
    const [transaction] = anyCall();
    const head = (await call(floodgate.gatewayUrl, 'eth_blockNumber')).json.result as string;
    expect((await call(floodgate.gatewayUrl, 'eth_call', transaction, 'latest')).json).toEqual(refusal);
    // The block number has the same cache key as `latest`.
    const again = await call(floodgate.gatewayUrl, 'eth_call', transaction, head);
    expect(again.json).toEqual(refusal);
    expect(again.headers['x-floodgate-cache']).toBe('hit');
    spoilAll(withLength('eth_call', SMALL));
    expect((await call(floodgate.gatewayUrl, 'eth_call', transaction, '0x1')).json.result).toBe('0x61');
    expect((await call(floodgate.gatewayUrl, 'eth_call', ...anyCall())).json.result).toBe('0x61');
    expect((await call(floodgate.gatewayUrl, 'eth_call', transaction, 'latest')).json).toEqual(refusal);
    await connect(chain.anvil.url).call('anvil_mine', '0x1');
    await until('the new head', async () => {
      const { json } = await call(floodgate.gatewayUrl, 'eth_blockNumber');
      return Number(json.result) > Number(head);
    });
    expect((await call(floodgate.gatewayUrl, 'eth_call', transaction, 'latest')).json.result).toBe('0x61');
  });

  it('close the connection if they exceed the limit while streaming, and are requested from two nodes in total', async () => {
    spoilAll(inChunks('eth_call'));
    const params = anyCall('0x1');
    const before = asked('eth_call');
    await expect(call(floodgate.gatewayUrl, 'eth_call', ...params)).rejects.toThrow();
    await expect(call(floodgate.gatewayUrl, 'eth_call', ...params)).rejects.toThrow();
    for (let i = 0; i < REQUESTS; i++)
      expect((await call(floodgate.gatewayUrl, 'eth_call', ...params)).json).toEqual(refusal);
    expect(asked('eth_call') - before).toBe(2);
    expect(await allAreUp(floodgate)).toBe(true);
  });

  it('are requested once from each of two nodes for 20 concurrent requests', async () => {
    let arrived = 0;
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    spoilAll(async (request, answer, response) => {
      if (request.methods[0] === 'eth_call') {
        arrived++;
        await held;
      }
      return withLength('eth_call')(request, answer, response);
    });
    const params = anyCall('0x1');
    const before = asked('eth_call');
    const answers = Array.from({ length: 20 }, () => call(floodgate.gatewayUrl, 'eth_call', ...params));
    await until('a node to receive the call', () => arrived > 0);
    goOn();
    for (const { json } of await Promise.all(answers)) expect(json).toEqual(refusal);
    expect(asked('eth_call') - before).toBe(2);
  });

  it('are requested from two slow nodes if the second request was a hedge', async () => {
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    spoilAll(async (request, answer, response) => {
      const [method = ''] = request.methods;
      if (method === 'eth_getLogs' || method === 'eth_getTransactionCount') await held;
      return withLength('eth_getLogs')(request, answer, response);
    });
    const before = asked('eth_getLogs');
    const large = call(floodgate.gatewayUrl, 'eth_getLogs', { fromBlock: '0x0', toBlock: '0x1' });
    await until('a node to receive the large request', () => asked('eth_getLogs') > before);
    // A later small request that has been hedged to all three nodes shows that the large one had time to be.
    const small = call(floodgate.gatewayUrl, 'eth_getTransactionCount', address(), 'latest');
    await until(
      'all nodes to receive the small request',
      () => asked('eth_getTransactionCount') === NODES.length,
    );
    expect(asked('eth_getLogs') - before).toBe(2);
    goOn();
    expect((await large).json).toEqual(refusal);
    expect((await small).json).toMatchObject({ result: '0x0' });
    expect(asked('eth_getLogs') - before).toBe(2);
    expect(await allAreUp(floodgate)).toBe(true);
  });

  it('of one node fail no call and do not affect the health of the node', async () => {
    const [oversized, ...others] = nodes;
    if (oversized !== undefined) oversized.intercept = withLength('eth_call');
    for (const other of others) other.intercept = withLength('eth_call', SMALL);
    const notedBefore = removalsNoted();
    const before = oversized?.counts.get('eth_call') ?? 0;
    const isAsked = (): boolean => (oversized?.counts.get('eth_call') ?? 0) > before + REQUESTS;
    const work = async (): Promise<void> => {
      while (!isAsked())
        expect((await call(floodgate.gatewayUrl, 'eth_call', ...anyCall())).json).toMatchObject({
          result: '0x61',
        });
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(removalsNoted()).toBe(notedBefore);
  });

  it('of eth_getBalance count as a failure of the node, which is removed from rotation', async () => {
    const isAside = () => floodgate.output().includes('answered with more than 65536 bytes');
    // The other nodes wait, so that every request also reaches the first node, which then fails on its own.
    spoilAll(async ({ methods }, answer) => {
      if (methods[0] === 'eth_getBalance') await until('the first node to be removed from rotation', isAside);
      return answer();
    });
    const [oversized] = nodes;
    if (oversized !== undefined)
      oversized.intercept = inChunks('eth_getBalance', OVERSIZED.slice(0, 300_000));
    const ask = () => call(floodgate.gatewayUrl, 'eth_getBalance', address(), 'latest');
    for (const { json } of await Promise.all(Array.from({ length: 8 }, ask)))
      expect(json).toMatchObject({ result: '0x0' });
    expect(floodgate.output()).toMatch(
      /"node":"node-1".*"health":"failing".*"reason":"[^"]*answered with more than 65536 bytes"/,
    );
  });

  it('of eth_getTransactionReceipt count as a failure of the node only if other nodes return smaller ones', async () => {
    const receipt = 'eth_getTransactionReceipt';
    spoilAll(withLength(receipt));
    for (let i = 0; i < REQUESTS; i++)
      expect((await call(floodgate.gatewayUrl, receipt, HASH.slice(0, -1) + i)).json).toEqual(refusal);
    expect(await allAreUp(floodgate)).toBe(true);

    const made = ({ body }: { readonly body: string }): string => {
      const hash = (JSON.parse(body) as { params: unknown[] }).params[0];
      const result = { transactionHash: hash, logs: [], logsBloom: `0x${'0'.repeat(512)}` };
      return JSON.stringify({ jsonrpc: '2.0', id: 1, result });
    };
    spoilAll((request, answer) => (request.methods[0] === receipt ? made(request) : answer()));
    const [oversized] = nodes;
    if (oversized !== undefined) oversized.intercept = withLength(receipt);
    const notedBefore = removalsNoted();
    let isAside = false;
    const work = async (): Promise<void> => {
      while (!isAside) {
        const hash = `0x${address().slice(2).padStart(64, '7')}`;
        const { json } = await call(floodgate.gatewayUrl, receipt, hash);
        expect(json).toMatchObject({ result: { transactionHash: hash } });
        isAside = removalsNoted() > notedBefore;
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
  });

  it('of eth_sendRawTransaction return -32002, because the transaction may have been accepted', async () => {
    spoilAll(withLength('eth_sendRawTransaction'));
    const { json } = await call(floodgate.gatewayUrl, 'eth_sendRawTransaction', '0x02c0');
    expect(json.error).toMatchObject({ code: -32002, data: { transactionHash: expect.any(String) } });
    expect(asked('eth_sendRawTransaction')).toBe(1);
  });

  it('are treated like requests that nodes reject with HTTP 413: only the request fails', async () => {
    spoilAll(({ methods }, answer, response) => {
      if (methods[0] !== 'eth_call') return answer();
      response.writeHead(413).end('content length too large');
      return undefined;
    });
    for (let i = 0; i < REQUESTS; i++) {
      const before = asked('eth_call');
      const { json } = await call(floodgate.gatewayUrl, 'eth_call', ...anyCall());
      expect(json.error).toMatchObject({ code: -32005, message: expect.stringContaining('413') });
      expect(asked('eth_call') - before).toBe(2);
    }
    expect(await allAreUp(floodgate)).toBe(true);
  });
});

describe('results above the limit with a single node', () => {
  let chain: SharedChain;
  let node: InterceptedNode;
  let floodgate: Floodgate;

  beforeAll(async () => {
    chain = await startSharedChain();
    node = await startInterceptedNode(chain.anvil.url);
    floodgate = await startFloodgate({ upstream: node.url, args: ARGS });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await node?.stop();
    await chain?.anvil.stop();
  });

  it.each(['latest', '0x1'])(
    'are rejected for block %s without another node request until the head changes',
    async (block) => {
      // A poll that reports a new head during the test would change the block.
      const head = Number(await connect(chain.anvil.url).call<string>('eth_blockNumber'));
      await until('the head to be known', () =>
        says(floodgate, { metric: 'floodgate_upstream_head_block', node: 'node-1', value: head }),
      );
      node.intercept = withLength('eth_call');
      const params = anyCall(block);
      const before = node.counts.get('eth_call') ?? 0;
      for (let i = 0; i < REQUESTS; i++)
        expect((await call(floodgate.gatewayUrl, 'eth_call', ...params)).json).toEqual(refusal);
      expect((node.counts.get('eth_call') ?? 0) - before).toBe(1);
      expect(await allAreUp(floodgate, ['node-1'])).toBe(true);
      node.intercept = withLength('eth_call', SMALL);
      expect((await call(floodgate.gatewayUrl, 'eth_call', ...params)).json).toEqual(refusal);
      await connect(chain.anvil.url).call('anvil_mine', '0x1');
      const again = () => call(floodgate.gatewayUrl, 'eth_call', ...params);
      // `latest` is requested again at once, another non-final block after the next poll.
      if (block === 'latest') expect((await again()).json.result).toBe('0x61');
      await until('the block to be requested again', async () => (await again()).json.result === '0x61');
    },
  );

  it('are rejected when requested again after they exceeded the limit while streaming', async () => {
    node.intercept = inChunks('eth_call');
    // Uses the block hash: for a number, the rejection is not stored if the head changes during the response.
    const { hash } = await connect(chain.anvil.url).call<{ hash: string }>(
      'eth_getBlockByNumber',
      '0x1',
      false,
    );
    const params = anyCall({ blockHash: hash });
    const before = node.counts.get('eth_call') ?? 0;
    await expect(call(floodgate.gatewayUrl, 'eth_call', ...params)).rejects.toThrow();
    expect((await call(floodgate.gatewayUrl, 'eth_call', ...params)).json).toEqual(refusal);
    expect((node.counts.get('eth_call') ?? 0) - before).toBe(1);
  });
});
