import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConnectionShedder } from './connectionShedder.ts';

const CONNECTIONS = 8;

describe('a server that lets go of some of its clients', () => {
  const server = createServer((_request, response) => response.end('answered'));
  const shedder = new ConnectionShedder(server);
  const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  let closed = 0;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    for (const agent of agents) agent.destroy();
    server.close();
  });

  /** Asks over all connections, one after the other. Answers which of them are closed. */
  async function ask(): Promise<boolean[]> {
    const { port } = server.address() as AddressInfo; // it listens on TCP
    const all: boolean[] = [];
    for (const agent of agents) {
      const request = get({ host: '127.0.0.1', port, agent });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      expect(response.statusCode).toBe(200);
      all.push(response.headers.connection === 'close');
    }
    return all;
  }
  const shed = (share: number): void =>
    shedder.shed(share, () => {
      closed++;
    });

  it('answers all of them, and closes the share that it is told, once each', async () => {
    expect(await ask()).not.toContain(true);
    shed(0.5);
    expect(await ask()).toEqual([false, true, false, true, false, true, false, true]);
    expect(closed).toBe(CONNECTIONS / 2);
    // Those that stayed have been seen; those that came anew are connections like any other.
    const [first, , third] = await ask();
    expect([first, third]).toEqual([false, false]);
  });

  it('closes none any more when it is told so', async () => {
    shed(0);
    const before = closed;
    expect(await ask()).not.toContain(true);
    expect(closed).toBe(before);
  });

  it('does not send the only client from place to place', async () => {
    for (const share of [0.1, 0.5, 0.9]) {
      shed(share);
      const only = agents.slice(1);
      agents.length = 1;
      expect(await ask()).toEqual([false]);
      agents.push(...only);
    }
  });
});
