import { Agent, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { openWebSocket } from './support/webSocketClient.ts';

const CONNECTIONS = 100;
const BATCH_CALLS = 100;
const MESSAGES = 15;
const BODIES = 3;
const GREEDY = '127.0.0.1';
const POLITE = '127.0.0.2';
/** Minimum number of responses to the polite client while the greedy one has work left. */
const MIN_SERVED = 5;

const chainId = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };

describe('another client', () => {
  let chain: SharedChain;
  let server: FloodgateProcess;
  const agents: Agent[] = [];

  beforeAll(async () => {
    chain = await startSharedChain();
    server = await startFloodgateProcess({ upstream: chain.anvil.url });
    const { status } = await agentOf(POLITE)(chainId);
    expect(status).toBe(200);
  });
  afterAll(async () => {
    for (const agent of agents) agent.destroy();
    await server?.stop();
    await chain?.anvil.stop();
  });

  /** Returns a function that sends requests over keep-alive connections from an address. */
  function agentOf(localAddress: string) {
    const agent = new Agent({ keepAlive: true });
    agents.push(agent);
    return (body: unknown): Promise<{ status: number; text: string }> =>
      new Promise((resolve, reject) => {
        const headers = { 'content-type': 'application/json' };
        const request = httpRequest(
          server.gatewayUrl,
          { method: 'POST', agent, localAddress, headers },
          (response) => {
            let text = '';
            response.setEncoding('utf8').on('data', (more) => {
              text += more;
            });
            response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
          },
        );
        request.on('error', reject).end(typeof body === 'string' ? body : JSON.stringify(body));
      });
  }

  const batch = () =>
    Array.from({ length: BATCH_CALLS }, (_, id) => ({
      ...{ jsonrpc: '2.0', id, method: 'trace_filter' },
      // Few traces: a client that reads much too slowly is disconnected, as this one may be on a busy machine.
      params: [{ fromBlock: 1, toBlock: chain.head, after: id, count: 5 }],
    }));

  /** Sends requests one after the other while greedy requests are open, and returns the number of responses. */
  async function servedDuring(
    greedy: readonly Promise<unknown>[],
    isStarted: () => boolean,
  ): Promise<number> {
    let isOver = false;
    const over = Promise.all(greedy).then((all) => {
      isOver = true;
      return all;
    });
    await until('the greedy client to be served', () => isStarted());
    const send = agentOf(POLITE);
    let served = 0;
    for (; !isOver; served++) expect((await send(chainId)).status).toBe(200);
    await over;
    return served;
  }

  it('is served during batches on 100 connections of one address, and all are answered', async () => {
    const send = agentOf(GREEDY);
    let answered = 0;
    const bodies = Array.from({ length: CONNECTIONS }, async () => {
      const { status, text } = await send(batch());
      answered++;
      return [status, JSON.parse(text).length];
    });
    expect(await servedDuring(bodies, () => answered > 0)).toBeGreaterThan(MIN_SERVED);
    expect(await Promise.all(bodies)).toEqual(Array(CONNECTIONS).fill([200, BATCH_CALLS]));
  });

  it('is served during messages on 20 WebSockets of one address, and all are answered', async () => {
    const sockets = await Promise.all(
      Array.from({ length: 20 }, () => openWebSocket(server.gatewayUrl, {}, { localAddress: GREEDY })),
    );
    for (const { socket } of sockets) for (let i = 0; i < MESSAGES; i++) socket.send(JSON.stringify(batch()));
    const answers = sockets.map((client) =>
      until('all messages to be answered', () => {
        expect(client.socket.readyState).toBe(client.socket.OPEN);
        return client.messages.length === MESSAGES;
      }),
    );
    const isStarted = () => sockets.some(({ messages }) => messages.length > 0);
    expect(await servedDuring(answers, isStarted)).toBeGreaterThan(MIN_SERVED);
    for (const client of sockets) client.close();
  });

  it('is served during large bodies on 100 connections of one address, and all are answered', async () => {
    const send = agentOf(GREEDY);
    const large = JSON.stringify(chainId).padEnd(1024 * 1024);
    let answered = 0;
    const bodies = Array.from({ length: CONNECTIONS }, async () => {
      const statuses: number[] = [];
      for (let i = 0; i < BODIES; i++, answered++) statuses.push((await send(large)).status);
      return statuses;
    });
    expect(await servedDuring(bodies, () => answered > 0)).toBeGreaterThan(MIN_SERVED);
    expect(await Promise.all(bodies)).toEqual(Array(CONNECTIONS).fill(Array(BODIES).fill(200)));
  });
});
