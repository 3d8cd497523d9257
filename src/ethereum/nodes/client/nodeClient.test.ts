import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { NodeClient } from './nodeClient.ts';
import type { PendingResponse } from './responseCollector.ts';

const GREEDY = { address: '192.0.2.1' };
const OTHER = { address: '192.0.2.2' };

describe('relayed requests to a node that does not answer yet', () => {
  /** Responses that the node holds back, by the body of the request. */
  let held: Map<string, ServerResponse>;
  let sent: number;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    held.set(body, response);
  });
  let client: NodeClient;
  const relay = (from: typeof GREEDY, timeoutMs = 60_000): PendingResponse =>
    client.relay(`${from.address} ${sent++}`, {
      client: from,
      timeoutMs,
      maxBytes: 1_000,
      mayStream: false,
      reservation: undefined,
    });
  const heldFrom = ({ address }: typeof GREEDY): number =>
    [...held.keys()].filter((body) => body.startsWith(`${address} `)).length;
  const release = (): void => {
    for (const [body, response] of held) {
      response.end('{}');
      held.delete(body);
    }
  };

  beforeEach(async () => {
    held = new Map();
    sent = 0;
    await once(server.listen(0, '127.0.0.1'), 'listening');
    client = new NodeClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`); // it listens on TCP
  });
  afterEach(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('leave connections to other clients, and wait for their own share', async () => {
    const greedy = Array.from({ length: 200 }, () => relay(GREEDY).body);
    await until('the node has the requests of one client', () => heldFrom(GREEDY) > 10);
    const other = relay(OTHER).body;
    await until('the node has the request of another client', () => heldFrom(OTHER) === 1);
    expect(heldFrom(GREEDY)).toBeLessThan(32);
    let isFinished = false;
    const all = Promise.all([...greedy, other]).then((answers) => {
      isFinished = true;
      return answers;
    });
    await until('all are answered', () => {
      release();
      return isFinished;
    });
    expect(await all).toHaveLength(201);
  });

  it('are never sent if they were aborted or timed out before their turn', async () => {
    const first = Array.from({ length: 100 }, () => relay(GREEDY));
    await until('the node has the requests of one client', () => heldFrom(GREEDY) > 10);
    await expect(relay(GREEDY, 1).body).rejects.toThrow('did not answer within 1 ms');
    for (const one of first) one.abort();
    for (const { body } of first) await expect(body).rejects.toThrow('aborted');
    const last = relay(GREEDY).body;
    await until('a later request has a connection', () => held.has(`${GREEDY.address} 101`));
    // Requests that had a connection may reach the node after they were aborted.
    expect(heldFrom(GREEDY)).toBeLessThan(1 + 32);
    expect(held.has(`${GREEDY.address} 100`)).toBe(false); // timed out
    release();
    await last;
  });
});

describe('a request by Floodgate itself to a hostile node', () => {
  const clientOf = async (answer: RequestListener): Promise<NodeClient> => {
    const server = createServer(answer);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = new NodeClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`); // it listens on TCP
    onTestFinished(async () => {
      await client.close();
      server.closeAllConnections();
      server.close();
    });
    return client;
  };

  it('reads at most 4 MiB of a poll, whatever its timeout', async () => {
    const mebibyte = Buffer.alloc(1024 * 1024, ' ');
    const client = await clientOf((_request, response) => {
      let left = 64;
      const send = (): void => {
        if (left-- > 0) response.write(mebibyte, send);
        else response.end();
      };
      send();
    });
    const poll = client.batch([['eth_chainId']], { isPoll: true, timeoutMs: 30_000 });
    await expect(poll).rejects.toThrow('more than 4194304 bytes');
  });

  it('ends although the node sends a byte from time to time', async () => {
    const client = await clientOf((_request, response) => {
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
    });
    const block = client.batch([['eth_getBlockByNumber', '0x1', true]], { silenceMs: 100 });
    await expect(block).rejects.toMatchObject({ reason: 'timeout' });
  });
});
