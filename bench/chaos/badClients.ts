import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { query, type Target } from '../../test/dns/support/dnsClient.ts';
import type { Random } from '../../test/support/random.ts';
import { ZONE_NAME } from './dnsLoad.ts';
import type { Program } from './program.ts';
import { rest } from './tally.ts';

const STALLED = 40;
const FLOODING = 32;
const QUERIES_PER_BURST = 200;
const BETWEEN_BURSTS_MS = 100;

/** Opens connections that send half a request, or send many requests and do not read, or send one byte of DNS. */
export async function stall(program: Program, guard: Target, ms: number): Promise<void> {
  const { hostname, port } = new URL(program.url);
  const half =
    'POST /v1/mainnet HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 200\r\n\r\n{"json';
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'trace_filter',
    params: [{ fromBlock: 0, toBlock: 700, count: 200 }],
  });
  const large = `POST /v1/mainnet HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const sockets = Array.from({ length: STALLED }, (_, i) => {
    const isDns = i % 4 === 0;
    const socket = isDns ? connect(guard.port, guard.host) : connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.pause();
    if (isDns) socket.write(Buffer.of(0));
    else socket.write(i % 4 === 1 ? half : large.repeat(20));
    return socket;
  });
  await rest(ms);
  for (const socket of sockets) socket.destroy();
}

/** Calls a method that is not served, as fast as the calls are rejected. */
export async function floodCalls(program: Program, ms: number): Promise<void> {
  const end = performance.now() + ms;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'admin_peers', params: ['x'.repeat(2_000)] });
  const flood = async (): Promise<void> => {
    while (performance.now() < end)
      await fetch(program.gatewayUrl, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
        .then((response) => response.arrayBuffer())
        .catch(() => rest(BETWEEN_BURSTS_MS));
  };
  await Promise.all(Array.from({ length: FLOODING }, flood));
}

/** Sends queries for names that do not exist. */
export async function floodNames(guard: Target, random: Random, ms: number): Promise<void> {
  const socket = createSocket('udp4');
  socket.on('error', () => {});
  const end = performance.now() + ms;
  while (performance.now() < end) {
    for (let i = 0; i < QUERIES_PER_BURST; i++)
      socket.send(query(`${random.hex(8).slice(2)}.${ZONE_NAME}`, 1, i), guard.port, guard.host);
    await rest(BETWEEN_BURSTS_MS);
  }
  socket.close();
}
