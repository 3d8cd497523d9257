/**
 * A flood from many sources in a separate process, until its parent disconnects: `PORT SOURCES
 * [QUERIES_PER_SECOND|full] [FLOOD]`. Default: one query per second from each source.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { nameToWire, queryPacket, typeNumber } from '../../src/dns/protocol/index.ts';
import { floods, knownFloods } from './names.ts';

const [port = '0', count = '20000', rate, kind = 'random names'] = process.argv.slice(2);
const sources = Number(count);
const perSecond = rate === 'full' ? Number.POSITIVE_INFINITY : Number(rate ?? count);
/** Created before the flood and then repeated, because creating a name takes longer than sending it. */
const PACKETS = 200_000;
const MOST_AT_ONCE = 256;

const line = { ...floods, ...knownFloods }[kind];
if (line === undefined) throw new Error(`unknown flood "${kind}"`);
const packets = Array.from({ length: PACKETS }, (_, i) => {
  const [name = '', type = 'A'] = line().split(' ');
  return queryPacket(nameToWire(name), typeNumber(type) ?? 1, i & 0xffff);
});
const sockets = await Promise.all(
  Array.from({ length: sources }, async (_, i) => {
    const socket = createSocket('udp4').bind(0, `127.${10 + (i >> 14)}.${(i >> 7) & 127}.${(i & 127) + 1}`);
    await once(socket, 'listening');
    return socket;
  }),
);
try {
  setPriority(10);
} catch {
  // Low priority is for the flood only; it may be late.
}
let sent = 0;
let isFinished = false;
const started = performance.now();
function send(): void {
  const due = Math.min(((performance.now() - started) / 1000) * perSecond, sent + MOST_AT_ONCE);
  for (; sent < due; sent++)
    sockets[sent % sources]?.send(packets[sent % PACKETS] ?? new Uint8Array(), Number(port), '127.0.0.1');
  if (!isFinished) setImmediate(send);
}
send();
process.send?.('ready');
process.once('message', () => {
  isFinished = true;
  process.send?.({ sent, seconds: (performance.now() - started) / 1000 });
});
process.on('disconnect', () => process.exit());
