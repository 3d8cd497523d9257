import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type InterceptedNode, startInterceptedNode } from '../gateway/support/interceptedNode.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { until } from '../support/until.ts';
import { canListProcesses, remotePortsOf } from './support/processes.ts';
import { KeepAliveConnection, startWorkersServer, type WorkersServer } from './support/workersServer.ts';

const WORKERS = 3;
const CALLS_PER_SECOND = 50;
const BYTES_PER_SECOND = 65_536;
const ANSWER_BYTES = 20_000;
/** Limit of the node with large responses. Low, so that few requests are sent before the first response arrives. */
const FEW_CALLS_PER_SECOND = 20;
/** Tolerance for polls that were sent before the measurement and arrive during it. */
const POLLED = 6;
const FLOOD_MS = 3_000;

describe.skipIf(!canListProcesses)('the budget of a node that several workers use', () => {
  let anvil: Anvil;
  let calls: InterceptedNode;
  let large: InterceptedNode;
  let traced: InterceptedNode;
  let relayed: InterceptedNode;
  let server: WorkersServer;
  let largeBytes = 0;
  let nextAddress = 0x1000;
  const connections: KeepAliveConnection[] = [];

  beforeAll(async () => {
    anvil = await startAnvil();
    await (await createTraffic({ url: anvil.url, seed: 21 })).run({ steps: 3 });
    calls = await startInterceptedNode(anvil.url);
    large = await startInterceptedNode(anvil.url);
    traced = await startInterceptedNode(anvil.url);
    relayed = await startInterceptedNode(anvil.url);
    large.intercept = async ({ methods, body }, answer) => {
      const { id } = JSON.parse(body) as { id?: number }; // a batch of polls has no id
      const text =
        methods[0] === 'eth_call'
          ? JSON.stringify({ jsonrpc: '2.0', id, result: `0x${'00'.repeat(ANSWER_BYTES / 2)}` })
          : await answer();
      largeBytes += text.length;
      return text;
    };
    server = await startWorkersServer(
      {
        config: {
          networks: {
            traced: { upstream: [traced.url] },
            relayed: { upstream: [relayed.url] },
            calls: { upstream: [{ url: calls.url, callsPerSecond: CALLS_PER_SECOND }] },
            large: {
              upstream: [
                { url: large.url, callsPerSecond: FEW_CALLS_PER_SECOND, bytesPerSecond: BYTES_PER_SECOND },
              ],
            },
          },
          gateway: { nodeWaitMs: 60_000, requestTimeoutMs: 60_000, debugTracers: ['callTracer'] },
          http: { trustedProxies: ['127.0.0.1'] },
        },
        args: ['--index-poll-interval-ms', '1000'],
      },
      WORKERS,
    );
  });
  afterAll(async () => {
    await server?.stop();
    for (const node of [calls, large, traced, relayed]) await node?.stop();
    await anvil?.stop();
  });
  afterEach(() => {
    for (const connection of connections.splice(0)) connection.close();
  });

  const connect = (network: string): KeepAliveConnection => {
    const made = new KeepAliveConnection(new URL(`/v1/${network}`, server.gatewayUrl).href);
    connections.push(made);
    return made;
  };
  /** Sends a call for a new address, which is not cached. */
  const ask = (connection: KeepAliveConnection, method: string, from: string) => {
    const address = `0x${(nextAddress++).toString(16).padStart(40, '0')}`;
    const params = [method === 'eth_call' ? { to: address } : address, 'latest'];
    return connection.post({ jsonrpc: '2.0', id: 1, method, params }, { 'x-forwarded-for': from });
  };
  /** Sends calls over many connections, until `end` is called. Each worker has some of the connections. */
  async function flood(network: string, method: string) {
    const asked: KeepAliveConnection[] = [];
    const answers = { good: 0 };
    const isFinished = { now: false };
    const begin = async (): Promise<void> => {
      const connection = connect(network);
      asked.push(connection);
      while (!isFinished.now) {
        const answer = await ask(connection, method, '198.51.100.1').catch(() => undefined);
        if (answer?.status === 200) answers.good++;
      }
    };
    await until('a connection to each worker', () => {
      for (let i = 0; i < 2 * WORKERS; i++) void begin();
      return server.workers().every((pid) => {
        const ports = remotePortsOf(pid);
        return asked.some(({ port }) => ports.includes(port ?? 0));
      });
    });
    return {
      answers,
      end: () => {
        isFinished.now = true;
      },
    };
  }
  /** Holds all calls of a method at a node. Calling the first of `running` answers the call that arrived first. */
  function holdCalls(node: InterceptedNode, method: string) {
    const running: (() => void)[] = [];
    let most = 0;
    node.intercept = async ({ methods }, answer) => {
      if (methods[0] !== method) return answer();
      await new Promise<void>((resolve) => {
        running.push(resolve);
        most = Math.max(most, running.length);
      });
      return answer();
    };
    return { running, most: () => most };
  }
  const callsAsked = (): number => [...calls.counts.values()].reduce((sum, count) => sum + count, 0);

  it('limits the calls of all workers together, even if one is killed, and other clients are served during a flood', async () => {
    const [before, startMs] = [callsAsked(), performance.now()];
    const flooding = await flood('calls', 'eth_getBalance');
    await pause(FLOOD_MS);
    for (let i = 0; i < 2 * WORKERS; i++) {
      const { status, text } = await ask(connect('calls'), 'eth_getBalance', '203.0.113.7');
      expect({ status, text }).toMatchObject({ status: 200, text: expect.stringContaining('"result":') });
    }
    process.kill(server.workers()[0] ?? 0, 'SIGKILL');
    await until('503 from /readyz', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 503);
    await until(
      'the replacement of the worker',
      async () => (await fetch(`${server.opsUrl}/readyz`)).status === 200,
    );
    const good = flooding.answers.good;
    await until('further results in the flood', () => flooding.answers.good > good + CALLS_PER_SECOND);
    flooding.end();
    const asked = callsAsked() - before;
    const seconds = (performance.now() - startMs) / 1_000;
    expect(asked).toBeGreaterThan(CALLS_PER_SECOND);
    expect(asked).toBeLessThanOrEqual(CALLS_PER_SECOND * (1 + seconds) + POLLED);
  });

  it('limits the traces of all workers together: two of a client and four in all run at a node', async () => {
    const held = holdCalls(traced, 'debug_traceCall');
    const send = async (from: string): Promise<number> => {
      const to = `0x${(nextAddress++).toString(16).padStart(40, '0')}`;
      const params = [{ to }, 'latest', { tracer: 'callTracer' }];
      const body = { jsonrpc: '2.0', id: 1, method: 'debug_traceCall', params };
      return (await connect('traced').post(body, { 'x-forwarded-for': from })).status;
    };
    const greedy = Array.from({ length: 2 * WORKERS }, () => send('198.51.100.1'));
    await until('two traces of a client', () => held.running.length === 2);
    const others = [2, 3, 4, 5].map((last) => send(`198.51.100.${last}`));
    await until('four traces', () => held.running.length === 4);
    const all = Promise.all([...greedy, ...others]);
    const release = setInterval(() => held.running.shift()?.(), 20);
    try {
      expect(new Set(await all)).toEqual(new Set([200]));
    } finally {
      clearInterval(release);
    }
    expect(held.most()).toBe(4);
  });

  it('limits the relayed calls of a client over all workers, and leaves connections to others', async () => {
    const held = holdCalls(relayed, 'eth_getBalance');
    const send = async (from: string): Promise<number> =>
      (await ask(connect('relayed'), 'eth_getBalance', from)).status;
    const inFlight = async (): Promise<number> =>
      Number(/^floodgate_gateway_requests_in_flight (\d+)$/m.exec(await server.metrics())?.[1]);
    const greedy = Array.from({ length: 50 * WORKERS }, () => send('198.51.100.1'));
    await until('the calls of a client', async () => (await inFlight()) === greedy.length);
    await until('the first calls at the node', () => held.running.length > 0);
    const others = Array.from({ length: 2 * WORKERS }, () => send('198.51.100.2'));
    await until('all calls', async () => (await inFlight()) === greedy.length + others.length);
    const all = Promise.all([...greedy, ...others]);
    const release = setInterval(() => held.running.shift()?.(), 5);
    try {
      expect(new Set(await all)).toEqual(new Set([200]));
    } finally {
      clearInterval(release);
    }
    // A client may use half of the free connections, and two clients have less than two thirds of them.
    expect(held.most()).toBeLessThanOrEqual(42);
  });

  it('limits the bytes of all workers together: large responses that exceed it delay later requests', async () => {
    const [before, startMs] = [largeBytes, performance.now()];
    const flooding = await flood('large', 'eth_call');
    await until('the first result', () => flooding.answers.good > 0);
    const good = flooding.answers.good;
    await pause(FLOOD_MS);
    await until('further results', () => flooding.answers.good > good + WORKERS);
    flooding.end();
    const asked = largeBytes - before;
    const seconds = (performance.now() - startMs) / 1_000;
    // Requests sent before the first response arrived are charged later.
    const ahead = FEW_CALLS_PER_SECOND * ANSWER_BYTES;
    expect(asked).toBeLessThanOrEqual(BYTES_PER_SECOND * (1 + seconds) + ahead);
  });
});
