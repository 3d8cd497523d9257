/**
 * Legitimate clients in a separate process: a fixed rate of queries for known names, without retries, with a timeout
 * of one second.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { nameToWire, queryPacket } from '../../src/dns/protocol/index.ts';
import { NAMES, USER_NETWORK } from './names.ts';

// High priority, because late sending or reading in this process would count as loss.
try {
  setPriority(-15);
} catch {
  // Without root the priority stays unchanged.
}
const [port = 0, perSecond = 500, seconds = 10] = process.argv.slice(2).map(Number);
const TICK_MS = 10;
const LAST_WAIT_MS = 1000;
const CLIENTS = 32;

const clients = await Promise.all(
  Array.from({ length: CLIENTS }, async (_, i) => {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 1024 * 1024 }).bind(
      0,
      `${USER_NETWORK}.${i + 1}`,
    );
    await once(socket, 'listening');
    return socket;
  }),
);
let sent = 0;
let answered = 0;
const delaysMs: number[] = [];
const sentAt = new Map<string, number>();
for (const [index, socket] of clients.entries())
  socket.on('message', (answer) => {
    const key = `${index}:${answer.readUInt16BE(0)}`;
    const atMs = sentAt.get(key);
    if (atMs === undefined) return;
    sentAt.delete(key);
    const delayMs = performance.now() - atMs;
    if (delayMs > LAST_WAIT_MS || ((answer[3] ?? 0) & 15) !== 0) return;
    answered++;
    delaysMs.push(delayMs);
  });
const started = performance.now();
const timer = setInterval(() => {
  const due = Math.min(perSecond * seconds, ((performance.now() - started) * perSecond) / 1000);
  for (; sent < due; sent++) {
    const index = sent % CLIENTS;
    const id = Math.floor(sent / CLIENTS) & 0xffff;
    sentAt.set(`${index}:${id}`, performance.now());
    const name = nameToWire(`h${Math.floor(Math.random() * NAMES)}.example.test`);
    clients[index]?.send(queryPacket(name, 1, id), port, '127.0.0.1');
  }
  if (sent < perSecond * seconds) return;
  clearInterval(timer);
  setTimeout(() => {
    delaysMs.sort((one, other) => one - other);
    const p99Ms = delaysMs[Math.floor(delaysMs.length * 0.99)] ?? 0;
    process.send?.({ sent, answered, p99Ms });
    process.disconnect?.();
    for (const socket of clients) socket.close();
  }, LAST_WAIT_MS);
}, TICK_MS);
