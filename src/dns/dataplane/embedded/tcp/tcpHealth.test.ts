import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HANG_MS } from '../../../../../test/support/hang.ts';
import { probeOf } from '../servers/probe.ts';
import { TcpHealth } from './tcpHealth.ts';

const PROBE_MS = 750;
const servers: Server[] = [];
let health: TcpHealth | undefined;

beforeEach(() => {
  // Connections are real. Only the interval between probes, and their timeout, are controlled by the test.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  health?.close();
  for (const server of servers.splice(0)) server.close();
  vi.useRealTimers();
});

/** Starts a DNS server over TCP that answers each probe with a changed copy of the query. `ended` counts its probes. */
async function serve(answer: (query: Buffer, socket: Socket) => void) {
  const state = { ended: 0 };
  const server = createServer((socket) => {
    socket.on('data', (query) => answer(query, socket));
    socket.on('error', () => undefined);
    socket.on('close', () => state.ended++);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port }, state };
}

function answered(query: Buffer, change: (answer: Buffer) => void = () => {}): Buffer {
  const answer = Buffer.from(query);
  answer[4] = 0x80 | (answer[4] ?? 0);
  change(answer);
  return answer;
}

it('a server that answers with another ID, or not at all, is not used over TCP until it answers two probes', async () => {
  let isBroken = true;
  const good = await serve((query, socket) => {
    const answer = answered(query);
    socket.write(answer.subarray(0, 7), () => socket.write(answer.subarray(7)));
  });
  const bad = await serve((query, socket) =>
    socket.write(
      answered(query, (answer) => isBroken && answer.writeUInt16BE(~answer.readUInt16BE(2) & 0xffff, 2)),
    ),
  );
  const closed = await serve((_, socket) => socket.end());
  const addresses = [closed.address, bad.address, good.address];
  health = new TcpHealth(addresses, probeOf(undefined, { high: 1, low: 2 }));
  const probes = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const expected = good.state.ended + 1;
      vi.advanceTimersByTime(PROBE_MS);
      for (const { state } of [good, bad, closed])
        await expect.poll(() => state.ended, { timeout: HANG_MS }).toBe(expected);
    }
  };
  expect([health.answering, health.isAnyAnswering]).toEqual([3, true]);
  await probes(2);
  await expect.poll(() => health?.answering, { timeout: HANG_MS }).toBe(1);
  expect(addresses.map((address) => health?.answers(address))).toEqual([false, false, true]);
  expect(health.inOrder(addresses)).toEqual([good.address, closed.address, bad.address]);
  isBroken = false;
  await probes(2);
  await expect.poll(() => health?.answers(bad.address), { timeout: HANG_MS }).toBe(true);
});

it('a single server is not probed, and a server that is not configured counts as answering', () => {
  const address = { host: '192.0.2.1', port: 53 };
  health = new TcpHealth([address], probeOf(undefined, { high: 1, low: 2 }));
  expect(vi.getTimerCount()).toBe(0);
  expect([health.isAnyAnswering, health.answers({ host: '192.0.2.2', port: 53 })]).toEqual([undefined, true]);
});
