import { setTimeout as pause } from 'node:timers/promises';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, startAnvil } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type InterceptedNode, type Interceptor, startInterceptedNode } from './support/interceptedNode.ts';
import { type ReplicatedChain, startReplicatedChain } from './support/replicatedChain.ts';
import { type Answer, call, send } from './support/send.ts';

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;
const POLL = ['--index-poll-interval-ms', '100'];
const LAST = 20;
/** Chain id of the Hoodi test network. */
const HOODI = 560_048;
/** Contained in every falsified result and in no correct one. */
const FALSE_MARK = '01234567890abcde';
const HONEST_DELAY_MS = 20;

/** Returns the value of the first metric line that contains all `parts`, otherwise 0. */
async function metric(floodgate: Floodgate, ...parts: readonly string[]): Promise<number> {
  const text = await (await fetch(`${floodgate.url}/metrics`)).text();
  const line = text
    .split('\n')
    .find((one) => !one.startsWith('#') && parts.every((part) => one.includes(part)));
  return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(' ') + 1));
}

const isUp = (floodgate: Floodgate, node: number): Promise<number> =>
  metric(floodgate, 'floodgate_upstream_up', `node="node-${node}"`);

let nextAddress = 2 ** 40;

/** Sends calls from `workers` concurrent clients until `stop` returns true. Distinct parameters prevent caching. */
function callsUntil(url: string, stop: () => boolean, workers = 8): Promise<Answer[]> {
  const answers: Answer[] = [];
  const work = async (): Promise<void> => {
    while (!stop()) {
      const address = `0x${(nextAddress++).toString(16).padStart(40, '0')}`;
      answers.push(await call(url, 'eth_getBalance', address, 'latest'));
    }
  };
  return Promise.all(Array.from({ length: workers }, work)).then(() => answers);
}

describe('a gateway with three nodes of one chain', () => {
  let chain: ReplicatedChain;
  let spoilt: InterceptedNode;
  let floodgate: Floodgate;

  beforeAll(async () => {
    chain = await startReplicatedChain(3);
    await chain.grow(LAST);
    const [first, second, third] = chain.nodes;
    spoilt = await startInterceptedNode(third?.url ?? '');
    floodgate = await startFloodgate({
      upstream: [first?.url ?? '', second?.url ?? '', spoilt.url],
      args: POLL,
    });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await spoilt?.stop();
    await chain?.stop();
  });

  const everyoneIsWell = (): Promise<unknown> =>
    until('all nodes to be healthy', async () => {
      for (const node of [1, 2, 3]) if ((await isUp(floodgate, node)) !== 1) return false;
      return true;
    });

  it('names the node of a response without its address', async () => {
    const { headers, text } = await call(floodgate.gatewayUrl, 'eth_getBalance', ZERO_ADDRESS, 'latest');
    expect(headers['x-floodgate-upstream']).toMatch(/^node-[123]$/);
    expect(JSON.stringify(headers) + text).not.toContain(new URL(chain.nodes[0]?.url ?? '').port);
  });

  it('serves all calls while a node is stopped with SIGSTOP and continued', async () => {
    await everyoneIsWell();
    const pid = chain.nodes[1]?.pid ?? 0;
    let stop = false;
    const calls = callsUntil(floodgate.gatewayUrl, () => stop);
    process.kill(pid, 'SIGSTOP');
    try {
      await until(
        'the stopped node to be removed from rotation',
        async () => (await isUp(floodgate, 2)) === 0,
      );
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until('the continued node to be healthy', async () => (await isUp(floodgate, 2)) === 1);
    stop = true;
    const answers = await calls;
    expect(answers.filter(({ json }) => json.result === undefined)).toEqual([]);
    expect(answers.length).toBeGreaterThan(10);
  });

  it('never returns an older head, regardless of the node', async () => {
    await everyoneIsWell();
    // The third node lags: it gets the new blocks later.
    spoilt.intercept = async (_request, answer) => answer();
    let stop = false;
    const seen: number[] = [];
    const reading = (async () => {
      while (!stop) {
        const number = await call(floodgate.gatewayUrl, 'eth_blockNumber');
        const block = await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', 'latest', false);
        seen.push(Number(number.json.result), Number(block.json.result.number));
      }
    })();
    for (let i = 0; i < 10; i++) {
      await chain.growFirstNode(1);
      await until('the new head', async () => {
        const { json } = await call(floodgate.gatewayUrl, 'eth_blockNumber');
        return Number(json.result) === chain.head();
      });
      if (i % 3 === 2) await chain.copy();
    }
    await chain.copy();
    stop = true;
    await reading;
    spoilt.intercept = undefined;
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(chain.head());
  });

  it('requests state at the head only from nodes that have the head', async () => {
    await chain.growFirstNode(1);
    const head = `0x${chain.head().toString(16)}`;
    await until('the new head', async () => {
      const { json } = await call(floodgate.gatewayUrl, 'eth_blockNumber');
      return json.result === head;
    });
    for (let i = 0; i < 10; i++) {
      const answer = await call(
        floodgate.gatewayUrl,
        'eth_getBalance',
        `0x${String(i).padStart(40, '5')}`,
        'latest',
      );
      expect(answer.headers['x-floodgate-upstream']).toBe('node-1');
    }
    await chain.copy();
  });

  it('serves all calls while a node is killed and restarted under load, and uses the node again', async () => {
    await everyoneIsWell();
    const head = chain.head();
    let stop = false;
    const heads: number[] = [];
    const calls = callsUntil(floodgate.gatewayUrl, () => stop);
    const reading = (async () => {
      while (!stop) heads.push(Number((await call(floodgate.gatewayUrl, 'eth_blockNumber')).json.result));
    })();
    process.kill(chain.nodes[1]?.pid ?? 0, 'SIGKILL');
    await until('the killed node to be removed from rotation', async () => (await isUp(floodgate, 2)) === 0);
    // It restarts empty and syncs under load: its older heads must not reach clients.
    await chain.restartNode(1);
    await until('the restarted node to be healthy', async () => (await isUp(floodgate, 2)) === 1);
    await until('a response from the restarted node', async () => {
      const address = `0x${(nextAddress++).toString(16).padStart(40, '0')}`;
      const { headers } = await call(floodgate.gatewayUrl, 'eth_getBalance', address, 'latest');
      return headers['x-floodgate-upstream'] === 'node-2';
    });
    stop = true;
    const [answers] = await Promise.all([calls, reading]);
    expect(answers.filter(({ json }) => json.result === undefined)).toEqual([]);
    expect(new Set(heads)).toEqual(new Set([head]));
  });

  it('returns the hash of a transaction that a node already has', async () => {
    const wallet = Wallet.createRandom();
    await Promise.all(
      chain.nodes.map(({ url }) =>
        connect(url).call('anvil_setBalance', wallet.address, '0xde0b6b3a7640000'),
      ),
    );
    const raw = await wallet.signTransaction({
      type: 2,
      chainId: 31_337,
      to: wallet.address,
      nonce: 0,
      gasLimit: 21_000,
      maxFeePerGas: 20_000_000_000n,
      maxPriorityFeePerGas: 1n,
    });
    // These nodes have no gossip, so send the transaction to each.
    const [hash] = await Promise.all(
      chain.nodes.map(({ url }) => connect(url).call('eth_sendRawTransaction', raw)),
    );
    const direct = await call(chain.nodes[0]?.url ?? '', 'eth_sendRawTransaction', raw);
    expect(direct.json.error.message).toMatch(/already/);
    for (let i = 0; i < 3; i++) {
      const answer = await call(floodgate.gatewayUrl, 'eth_sendRawTransaction', raw);
      expect(answer.json).toEqual({ jsonrpc: '2.0', id: 1, result: hash });
    }

    await Promise.all(chain.nodes.map(({ url }) => connect(url).call('evm_mine')));
    const mined = await call(chain.nodes[0]?.url ?? '', 'eth_sendRawTransaction', raw);
    expect(mined.json.error.message).toMatch(/nonce too low/);
    const again = await call(floodgate.gatewayUrl, 'eth_sendRawTransaction', raw);
    expect(again.json).toEqual({ jsonrpc: '2.0', id: 1, result: hash });
    const other = await wallet.signTransaction({
      type: 2,
      chainId: 31_337,
      to: wallet.address,
      nonce: 0,
      gasLimit: 22_000,
      maxFeePerGas: 20_000_000_000n,
      maxPriorityFeePerGas: 1n,
    });
    const refused = await call(floodgate.gatewayUrl, 'eth_sendRawTransaction', other);
    expect(refused.json.error.message).toMatch(/nonce too low/);
  });

  it('serves all calls while all nodes reorganise under load, and ends on the new chain', async () => {
    await everyoneIsWell();
    let stop = false;
    const calls = callsUntil(floodgate.gatewayUrl, () => stop);
    // Ensures that load has started: the nodes reorganise within milliseconds.
    await call(floodgate.gatewayUrl, 'eth_getBalance', `0x${'6'.repeat(40)}`, 'latest');
    await chain.replace(3);
    const { hash } = await connect(chain.nodes[0]?.url ?? '').call<{ hash: string }>(
      'eth_getBlockByNumber',
      'latest',
      false,
    );
    await until('the head of the new chain', async () => {
      const { json } = await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', 'latest', false);
      return json.result?.hash === hash;
    });
    stop = true;
    const answers = await calls;
    expect(answers.filter(({ json }) => json.result === undefined)).toEqual([]);
  });
});

describe('a node that passes health checks but fails calls', () => {
  let chain: ReplicatedChain;
  let honest: InterceptedNode;
  let spoilt: InterceptedNode;
  let floodgate: Floodgate;

  beforeAll(async () => {
    // On Ethereum's networks the gateway checks more of a block than on others.
    chain = await startReplicatedChain(1, { chainId: HOODI });
    await chain.grow(LAST);
    const url = chain.nodes[0]?.url ?? '';
    // Both nodes are proxied, so that both are equally fast and receive calls.
    [honest, spoilt] = await Promise.all([startInterceptedNode(url), startInterceptedNode(url)]);
    floodgate = await startFloodgate({ upstream: [honest.url, spoilt.url], args: POLL });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await Promise.all([honest?.stop(), spoilt?.stop()]);
    await chain?.stop();
  });

  it.each<[string, Interceptor]>([
    ['invalid JSON', () => 'this is no JSON'],
    ['an empty body', () => ''],
    ['a message without result', () => '{"jsonrpc":"2.0","id":1}'],
    ['an invalid JSON result', () => '{"jsonrpc":"2.0","id":1,"result":0x1}'],
    ['a result of the wrong type', () => '{"jsonrpc":"2.0","id":1,"result":{"balance":1}}'],
    ['null', () => '{"jsonrpc":"2.0","id":1,"result":null}'],
    ['an internal error', () => '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"oops"}}'],
    [
      'an error for missing state',
      () => '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"missing trie node"}}',
    ],
    [
      'HTTP 500',
      (_request, _answer, response) => {
        response.writeHead(500).end('oops');
        return undefined;
      },
    ],
    [
      'HTTP 429',
      (_request, _answer, response) => {
        response.writeHead(429, { 'retry-after': '1' }).end();
        return undefined;
      },
    ],
    [
      'a truncated body',
      async (_request, answer, response) => {
        const text = await answer();
        response.writeHead(200, { 'content-length': text.length });
        response.write(text.slice(0, text.length / 2), () => response.destroy());
        return undefined;
      },
    ],
    [
      'a closed connection',
      (_request, _answer, response) => {
        response.destroy();
        return undefined;
      },
    ],
    ['no response', () => undefined],
  ])('does not fail calls with %s', async (_what, spoil) => {
    await until('the second node to be healthy', async () => (await isUp(floodgate, 2)) === 1);
    // Polls are batches and pass unchanged, so health checks do not detect the node.
    spoilt.intercept = (request, answer, response) =>
      request.body.startsWith('[') ? answer() : spoil(request, answer, response);
    let asked = 0;
    const before = spoilt.counts.get('eth_getBalance') ?? 0;
    const answers = await callsUntil(floodgate.gatewayUrl, () => {
      asked++;
      return (spoilt.counts.get('eth_getBalance') ?? 0) > before + 2 || asked > 2_000;
    });
    spoilt.intercept = undefined;
    expect(spoilt.counts.get('eth_getBalance') ?? 0).toBeGreaterThan(before);
    for (const { json } of answers) expect(json).toMatchObject({ id: 1, result: '0x0' });
  });

  it.each<[string, string, (text: string) => string]>([
    [
      'block',
      'eth_getBlockByNumber',
      (text) => text.replace(/"stateRoot":"0x[0-9a-f]{16}/, `"stateRoot":"0x${FALSE_MARK}`),
    ],
    [
      'transaction',
      'eth_getBlockByNumber',
      (text) => text.replace(/"r":"0x[0-9a-f]{16}/, `"r":"0x${FALSE_MARK}`),
    ],
    [
      'transaction',
      'eth_getTransactionByHash',
      (text) => text.replace(/"r":"0x[0-9a-f]{16}/, `"r":"0x${FALSE_MARK}`),
    ],
    [
      'receipt',
      'eth_getTransactionReceipt',
      (text) => text.replace(/"logsBloom":"0x.{16}/, `"logsBloom":"0x${FALSE_MARK}`),
    ],
  ])('is quarantined after a false %s (%s), with a metric and a log line', async (what, method, falsify) => {
    // The faulty node is the faster one, so that it receives calls first.
    honest.intercept = async (_request, answer) => {
      await pause(HONEST_DELAY_MS);
      return answer();
    };
    const fresh = await startFloodgate({ upstream: [honest.url, spoilt.url], args: POLL });
    try {
      let lies = 0;
      spoilt.intercept = async ({ body, methods }, answer) => {
        if (body.startsWith('[') || methods[0] !== method) return answer();
        const reported = await answer();
        const text = falsify(reported);
        if (text !== reported) lies++;
        return text;
      };
      for (let number = 1; number <= LAST && lies === 0; number++)
        for (const full of [false, true]) {
          const block = await call(fresh.gatewayUrl, 'eth_getBlockByNumber', number, full);
          expect(block.text).not.toContain(FALSE_MARK);
          for (const hash of full ? [] : block.json.result.transactions)
            for (const about of ['eth_getTransactionReceipt', 'eth_getTransactionByHash']) {
              const answer = await call(fresh.gatewayUrl, about, hash);
              expect(answer.json.result).toBeDefined();
              expect(answer.text).not.toContain(FALSE_MARK);
            }
        }
      expect(await metric(fresh, 'floodgate_upstream_invalid_responses_total', 'node="node-2"', method)).toBe(
        1,
      );
      expect(await isUp(fresh, 2)).toBe(0);
      expect(fresh.output()).toMatch(
        new RegExp(`"node":"node-2".*"reason":".*${what}.*upstream quarantined`),
      );
    } finally {
      spoilt.intercept = undefined;
      honest.intercept = undefined;
      await fresh.stop();
    }
  });
});

describe('unusable nodes', () => {
  it('are rejected at start with the reason if their chains differ', async () => {
    const [one, other] = await Promise.all([startAnvil(), startAnvil({ extraArgs: ['--chain-id', '5'] })]);
    try {
      await expect(startFloodgate({ upstream: [one.url, other.url] })).rejects.toThrow(/different chains/);
    } finally {
      await Promise.all([one.stop(), other.stop()]);
    }
  });

  it('receive no calls if they are unreachable at start and then serve another chain', async () => {
    const chain = await startReplicatedChain(1);
    await chain.grow(3);
    const spoilt = await startInterceptedNode(chain.nodes[0]?.url ?? '');
    spoilt.intercept = (_request, _answer, response) => {
      response.destroy();
      return undefined;
    };
    const floodgate = await startFloodgate({ upstream: [chain.nodes[0]?.url ?? '', spoilt.url], args: POLL });
    try {
      const lines = floodgate.output().split('\n');
      expect(lines.filter((line) => line.includes('upstream not usable yet'))).toEqual([
        expect.stringMatching(/"node":"node-2".*"reason":".* cannot be reached or closed the connection/),
      ]);
      spoilt.intercept = async (_request, answer) => (await answer()).replaceAll('"0x7a69"', '"0x1"');
      await until('the chain of the second node to be known', async () =>
        floodgate.output().includes('it is on another chain'),
      );
      for (let i = 0; i < 20; i++) {
        const answer = await call(floodgate.gatewayUrl, 'eth_getBalance', `0x${String(i).padStart(40, '6')}`);
        expect(answer.headers['x-floodgate-upstream']).toBe('node-1');
      }
    } finally {
      await floodgate.stop();
      await spoilt.stop();
      await chain.stop();
    }
  });

  it('cause 503 with Retry-After if none responds within gateway.nodeWaitMs', async () => {
    const chain = await startReplicatedChain(1);
    await chain.grow(2);
    const args = [...POLL, '--gateway-node-wait-ms', '300'];
    const floodgate = await startFloodgate({ upstream: chain.nodes[0]?.url ?? '', args });
    try {
      await chain.stop();
      const answer = await call(floodgate.gatewayUrl, 'eth_getBalance', ZERO_ADDRESS, 'latest');
      expect(answer).toMatchObject({
        status: 503,
        headers: { 'retry-after': '01' },
        json: { id: 1, error: { code: -32603, data: { reason: 'noNode' } } },
      });
      expect(answer.json.error.message).toMatch(/try again/);
      const batch = await send(floodgate.gatewayUrl, {
        body: [{ jsonrpc: '2.0', id: 7, method: 'eth_getBalance', params: [ZERO_ADDRESS, 'latest'] }],
      });
      expect(batch).toMatchObject({ status: 200, json: [{ id: 7, error: { code: -32603 } }] });
    } finally {
      await floodgate.stop();
    }
  });

  it('make calls wait until the first node is back', async () => {
    const chain = await startReplicatedChain(2);
    await chain.grow(2);
    const args = [...POLL, '--gateway-node-wait-ms', '60000'];
    const spoilt = await Promise.all(chain.nodes.map(({ url }) => startInterceptedNode(url)));
    const floodgate = await startFloodgate({ upstream: spoilt.map(({ url }) => url), args });
    try {
      for (const node of spoilt)
        node.intercept = (_request, _answer, response) => {
          response.destroy();
          return undefined;
        };
      await until(
        'both nodes to be removed from rotation',
        async () => (await isUp(floodgate, 1)) + (await isUp(floodgate, 2)) === 0,
      );
      const answers = Promise.all([
        call(floodgate.gatewayUrl, 'eth_getBalance', ZERO_ADDRESS, 'latest'),
        call(floodgate.gatewayUrl, 'eth_blockNumber'),
        call(floodgate.gatewayUrl, 'eth_sendRawTransaction', '0x02c0'),
      ]);
      const [, second] = spoilt;
      if (second !== undefined) second.intercept = undefined;
      const [balance, head, sent] = await answers;
      expect([balance.json.result, head.json.result]).toEqual([expect.stringMatching(/^0x/), '0x2']);
      expect(sent.json.error.code).not.toBe(-32603);
    } finally {
      await floodgate.stop();
      await Promise.all(spoilt.map((node) => node.stop()));
      await chain.stop();
    }
  });

  it('receive a transaction once: if the connection breaks, the error reports that it may have been accepted', async () => {
    const chain = await startReplicatedChain(2);
    await chain.grow(2);
    const spoilt = await Promise.all(chain.nodes.map(({ url }) => startInterceptedNode(url)));
    const floodgate = await startFloodgate({ upstream: spoilt.map(({ url }) => url), args: POLL });
    try {
      for (const node of spoilt)
        node.intercept = ({ methods }, answer, response) => {
          if (methods[0] !== 'eth_sendRawTransaction') return answer();
          response.destroy();
          return undefined;
        };
      const raw = '0x02c0';
      const answer = await call(floodgate.gatewayUrl, 'eth_sendRawTransaction', raw);
      const hash = await connect(chain.nodes[0]?.url ?? '').call('web3_sha3', raw);
      expect(answer.json.error).toMatchObject({ code: -32002, data: { transactionHash: hash } });
      const sent = spoilt.reduce((sum, { counts }) => sum + (counts.get('eth_sendRawTransaction') ?? 0), 0);
      expect(sent).toBe(1);
    } finally {
      await floodgate.stop();
      await Promise.all(spoilt.map((node) => node.stop()));
      await chain.stop();
    }
  });

  it('do not prevent sending a transaction to the next node if the first is unreachable', async () => {
    const chain = await startReplicatedChain(2);
    await chain.grow(2);
    const floodgate = await startFloodgate({
      upstream: chain.nodes.map(({ url }) => url),
      args: ['--index-poll-interval-ms', '60000'],
    });
    try {
      const [first, second] = chain.nodes;
      process.kill(first?.pid ?? 0, 'SIGKILL');
      await first?.exited;
      for (let i = 0; i < 4; i++) {
        const answer = await send(floodgate.gatewayUrl, {
          body: { jsonrpc: '2.0', id: i, method: 'eth_sendRawTransaction', params: ['0x02c0'] },
        });
        const direct = await call(second?.url ?? '', 'eth_sendRawTransaction', '0x02c0');
        expect(answer.json.error).toEqual(direct.json.error);
      }
    } finally {
      await floodgate.stop();
      await chain.stop();
    }
  });
});
