import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SpoiltNode, startSpoiltNode } from '../gateway/support/spoiltNode.ts';
import { type Anvil, createTraffic, startAnvil } from '../support/anvil.ts';
import { until } from '../support/until.ts';
import { canListProcesses, portsConnectedWith } from './support/processes.ts';
import { KeptConnection, startWorkersServer, type WorkersServer } from './support/workersServer.ts';

const WORKERS = 3;
const CALLS_PER_SECOND = 50;
const BYTES_PER_SECOND = 65_536;
const ANSWER_BYTES = 20_000;
/** Of the node with large answers: so few that what is sent before the first of them arrives is little. */
const FEW_CALLS_PER_SECOND = 20;
/** Polls that were sent before and arrive later. */
const POLLED = 6;
const FLOOD_MS = 3_000;

describe.skipIf(!canListProcesses)('the budget of a node that several workers ask', () => {
  let anvil: Anvil;
  let calls: SpoiltNode;
  let large: SpoiltNode;
  let server: WorkersServer;
  let largeBytes = 0;
  let nextAddress = 0x1000;
  const connections: KeptConnection[] = [];

  beforeAll(async () => {
    anvil = await startAnvil();
    await (await createTraffic({ url: anvil.url, seed: 21 })).run({ steps: 3 });
    calls = await startSpoiltNode(anvil.url);
    large = await startSpoiltNode(anvil.url);
    large.spoil = async ({ methods, body }, answer) => {
      const { id } = JSON.parse(body) as { id?: number }; // a batch of polls has none
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
            calls: { upstream: [{ url: calls.url, callsPerSecond: CALLS_PER_SECOND }] },
            large: {
              upstream: [
                { url: large.url, callsPerSecond: FEW_CALLS_PER_SECOND, bytesPerSecond: BYTES_PER_SECOND },
              ],
            },
          },
          gateway: { nodeWaitMs: 60_000, requestTimeoutMs: 60_000 },
          http: { trustedProxies: ['127.0.0.1'] },
        },
        args: ['--index-poll-interval-ms', '1000'],
      },
      WORKERS,
    );
  });
  afterAll(async () => {
    await server?.stop();
    for (const node of [calls, large]) await node?.stop();
    await anvil?.stop();
  });
  afterEach(() => {
    for (const connection of connections.splice(0)) connection.close();
  });

  const connect = (network: string): KeptConnection => {
    const made = new KeptConnection(new URL(`/v1/${network}`, server.gatewayUrl).href);
    connections.push(made);
    return made;
  };
  /** Asks what nobody has asked before. */
  const ask = (connection: KeptConnection, method: string, from: string) => {
    const address = `0x${(nextAddress++).toString(16).padStart(40, '0')}`;
    const params = [method === 'eth_call' ? { to: address } : address, 'latest'];
    return connection.post({ jsonrpc: '2.0', id: 1, method, params }, { 'x-forwarded-for': from });
  };
  /** Asks over many connections at once, some of each worker. */
  async function flood(network: string, method: string) {
    const asked: KeptConnection[] = [];
    const answers = { good: 0 };
    const isOver = { now: false };
    const begin = async (): Promise<void> => {
      const connection = connect(network);
      asked.push(connection);
      while (!isOver.now) {
        const answer = await ask(connection, method, '198.51.100.1').catch(() => undefined);
        if (answer?.status === 200) answers.good++;
      }
    };
    await until('each worker has some', () => {
      for (let i = 0; i < 2 * WORKERS; i++) void begin();
      return server.workers().every((pid) => {
        const ports = portsConnectedWith(pid);
        return asked.some(({ port }) => ports.includes(port ?? 0));
      });
    });
    return {
      answers,
      end: () => {
        isOver.now = true;
      },
    };
  }
  const callsAsked = (): number => [...calls.counts.values()].reduce((sum, count) => sum + count, 0);

  it('is that of the machine, whoever floods and also where a worker is killed, and others are answered', async () => {
    const [before, startMs] = [callsAsked(), performance.now()];
    const flooding = await flood('calls', 'eth_getBalance');
    await pause(FLOOD_MS);
    for (let i = 0; i < 2 * WORKERS; i++) {
      const { status, text } = await ask(connect('calls'), 'eth_getBalance', '203.0.113.7');
      expect({ status, text }).toMatchObject({ status: 200, text: expect.stringContaining('"result":') });
    }
    process.kill(server.workers()[0] ?? 0, 'SIGKILL');
    await until('it is told', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 503);
    await until('another is there', async () => (await fetch(`${server.opsUrl}/readyz`)).status === 200);
    const good = flooding.answers.good;
    await until('the flood goes on', () => flooding.answers.good > good + CALLS_PER_SECOND);
    flooding.end();
    const asked = callsAsked() - before;
    const seconds = (performance.now() - startMs) / 1_000;
    expect(asked).toBeGreaterThan(CALLS_PER_SECOND);
    expect(asked).toBeLessThanOrEqual(CALLS_PER_SECOND * (1 + seconds) + POLLED);
  });

  it('of bytes too: what large answers take beyond it is paid before any worker goes on', async () => {
    const [before, startMs] = [largeBytes, performance.now()];
    const flooding = await flood('large', 'eth_call');
    await until('the first are answered', () => flooding.answers.good > 0);
    const good = flooding.answers.good;
    await pause(FLOOD_MS);
    await until('it has gone on', () => flooding.answers.good > good + WORKERS);
    flooding.end();
    const asked = largeBytes - before;
    const seconds = (performance.now() - startMs) / 1_000;
    // What was sent before the first answer arrived is paid later.
    const ahead = FEW_CALLS_PER_SECOND * ANSWER_BYTES;
    expect(asked).toBeLessThanOrEqual(BYTES_PER_SECOND * (1 + seconds) + ahead);
  });
});
