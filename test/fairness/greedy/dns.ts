import { createSocket } from 'node:dgram';
import { nameToWire, queryPacket } from '../../../src/dns/protocol/index.ts';
import { framed } from '../../dns/support/tcpClient.ts';
import { KNOWN_NAMES, ZONE_NAME } from '../target.ts';
import { Connections } from './connections.ts';
import { type StartGreedy, sized } from './greedy.ts';

const FLOOD_PER_SECOND = 20_000;
const TICK_MS = 2;
const MAX_DELAY_MS = 50;
/** Sources of a flood from many networks. */
const SOURCES = 32;
const LABEL_BYTES = 6;
const QUERIES_AHEAD = 50;
const BATCH_MS = 20;

/** Floods DNS over UDP with random names, from one address or from many. */
export const dnsFlood: StartGreedy = (context) => {
  const { random, target, address } = context;
  const sources = random.chance(0.5)
    ? [address]
    : Array.from({ length: SOURCES }, (_, i) => `127.0.${i + 1}.${random.between(1, 250)}`);
  const sockets = sources.map((source) =>
    createSocket('udp4')
      .on('error', () => undefined)
      .on('message', () => undefined)
      .bind(0, source),
  );
  const perSecond = sized(context, FLOOD_PER_SECOND);
  let lastMs = performance.now();
  let count = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // A generator that was delayed does not send what it missed.
    const end = count + (Math.min(nowMs - lastMs, MAX_DELAY_MS) * perSecond) / 1_000;
    lastMs = nowMs;
    for (; count < end; count++) {
      const packet = queryPacket(nameToWire(`${random.hex(LABEL_BYTES)}.${ZONE_NAME}`), 1, count & 0xffff);
      sockets[count % sockets.length]?.send(packet, target.dns.port, target.dns.host);
    }
  }, TICK_MS);
  return {
    get count() {
      return count;
    },
    stop() {
      clearInterval(timer);
      for (const socket of sockets) socket.close();
    },
  };
};

/** Opens many DNS connections: idle, within a query, with many queries, or without reading answers. */
export const dnsTcp: StartGreedy = (context) => {
  const { random } = context;
  const what = random.pick(['idle', 'half query', 'random names', 'unread answers']);
  const queries = (): Buffer =>
    Buffer.concat(
      Array.from({ length: QUERIES_AHEAD }, (_, id) => {
        const label = what === 'random names' ? random.hex(LABEL_BYTES) : `h${random.below(KNOWN_NAMES)}`;
        return framed(queryPacket(nameToWire(`${label}.${ZONE_NAME}`), 1, id));
      }),
    );
  const connections = new Connections(context, {
    count: sized(context, random.between(50, 500)),
    dns: true,
    opened: (socket) => {
      if (what === 'half query') socket.write(Uint8Array.of(0, 40, 1));
      if (what !== 'unread answers') socket.resume();
    },
  });
  const timer = setInterval(() => {
    if (what !== 'random names' && what !== 'unread answers') return;
    for (const socket of connections.sockets)
      if (!socket.connecting && socket.writableLength === 0) socket.write(queries());
  }, BATCH_MS);
  return {
    get count() {
      return connections.opened;
    },
    stop() {
      clearInterval(timer);
      connections.stop();
    },
  };
};
