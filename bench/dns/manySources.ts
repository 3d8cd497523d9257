/** A flood from many sources, one query a second each for a random name, in a process of its own until its parent lets go. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { nameToWire, queryPacket } from '../../src/dns/protocol/index.ts';

const [port = 0, sources = 20_000] = process.argv.slice(2).map(Number);
const SLICES_PER_SECOND = 100;

const sockets = await Promise.all(
  Array.from({ length: sources }, async (_, i) => {
    const socket = createSocket('udp4').bind(0, `127.${10 + (i >> 14)}.${(i >> 7) & 127}.${(i & 127) + 1}`);
    await once(socket, 'listening');
    return socket;
  }),
);
let sent = 0;
const started = performance.now();
setInterval(() => {
  const due = ((performance.now() - started) / 1000) * sources;
  for (; sent < due; sent++) {
    const name = nameToWire(`${Math.random().toString(36).slice(2, 12)}.example.test`);
    sockets[sent % sources]?.send(queryPacket(name, 1, sent & 0xffff), port, '127.0.0.1');
  }
}, 1000 / SLICES_PER_SECOND);
process.send?.('ready');
process.on('disconnect', () => process.exit());
