import { Agent, request as httpRequest } from 'node:http';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { openWebSocket } from './support/webSocketClient.ts';

const CONNECTIONS = 100;
const BATCH_CALLS = 100;
const SOCKETS = 20;
/** Messages of a WebSocket that wait at the same time. */
const MESSAGES = 15;
const GREEDY = '127.0.0.1';
const POLITE = '127.0.0.2';
/** Requests of the polite client, one after the other. */
const REQUESTS = 10;

const chainId = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };

/**
 * Sends requests one after the other, and reports the first and then all of them. It runs in a thread of its own, so
 * that its responses do not wait in the event loop of the greedy client.
 */
const POLITE_CLIENT = `
const { parentPort, workerData: { url, localAddress, body, count } } = require('node:worker_threads');
const { Agent, request } = require('node:http');
const agent = new Agent({ keepAlive: true });
const options = { method: 'POST', agent, localAddress, headers: { 'content-type': 'application/json' } };
const send = () => new Promise((resolve, reject) => {
  request(url, options, (response) => response.resume().on('end', () => resolve(response.statusCode)))
    .on('error', reject).end(body);
});
(async () => {
  parentPort.postMessage(await send());
  const statuses = [];
  while (statuses.length < count) statuses.push(await send());
  agent.destroy();
  parentPort.postMessage(statuses);
})();
`;

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
      jsonrpc: '2.0',
      id,
      method: 'trace_filter',
      // Few traces: a client that reads much too slowly is disconnected, as this one may be on a busy machine.
      params: [{ fromBlock: 1, toBlock: chain.head, after: id, count: 5 }],
    }));

  /**
   * Starts greedy requests that follow one another, and then sends those of the polite client. Returns the number of
   * greedy requests that were answered for each polite one. Rejects if any of them fails.
   */
  async function greedyPerPolite(requests: readonly (() => Promise<void>)[]): Promise<number> {
    let [answered, isOver] = [0, false];
    const greedy = requests.map(async (request) => {
      for (; !isOver; answered++) await request();
    });
    await until('the greedy client to be served', () => answered > 0);
    const polite = new Worker(POLITE_CLIENT, {
      eval: true,
      workerData: {
        url: server.gatewayUrl,
        localAddress: POLITE,
        body: JSON.stringify(chainId),
        count: REQUESTS,
      },
    });
    const received: unknown[] = [];
    polite.on('message', (message) => received.push(message));
    await until('the first response', () => received.length > 0);
    const before = answered;
    await until('all responses', () => received.length > 1);
    const during = answered - before;
    isOver = true;
    await Promise.all(greedy);
    expect(received[1]).toEqual(Array(REQUESTS).fill(200));
    return during / REQUESTS;
  }

  it('is served before most batches on 100 connections of one address, and all are answered', async () => {
    const send = agentOf(GREEDY);
    const request = async (): Promise<void> => {
      const { status, text } = await send(batch());
      expect([status, JSON.parse(text).length]).toEqual([200, BATCH_CALLS]);
    };
    expect(await greedyPerPolite(Array(CONNECTIONS).fill(request))).toBeLessThan(CONNECTIONS / 2);
  });

  it('is served before most messages on 20 WebSockets of one address, and all are answered', async () => {
    const sockets = await Promise.all(
      Array.from({ length: SOCKETS }, () => openWebSocket(server.gatewayUrl, {}, { localAddress: GREEDY })),
    );
    const closed: unknown[] = [];
    for (const client of sockets) void client.closed.then((reason) => closed.push(reason));
    const requests = sockets.map((client) => async (): Promise<void> => {
      const before = client.messages.length;
      for (let i = 0; i < MESSAGES; i++) client.socket.send(JSON.stringify(batch()));
      await until('all messages to be answered', () => {
        expect(closed).toEqual([]);
        return client.messages.length === before + MESSAGES;
      });
    });
    expect(MESSAGES * (await greedyPerPolite(requests))).toBeLessThan((SOCKETS * MESSAGES) / 2);
    for (const client of sockets) client.close();
  });

  it('is served before most large bodies on 100 connections of one address, and all are answered', async () => {
    const send = agentOf(GREEDY);
    const large = JSON.stringify(chainId).padEnd(1024 * 1024);
    const request = async (): Promise<void> => expect((await send(large)).status).toBe(200);
    expect(await greedyPerPolite(Array(CONNECTIONS).fill(request))).toBeLessThan(CONNECTIONS / 2);
  });
});
