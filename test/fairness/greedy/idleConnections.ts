import { Connections } from './connections.ts';
import { type StartGreedy, sized } from './greedy.ts';

/** The start of a TLS handshake: a ClientHello whose rest never arrives. */
const HALF_HELLO = Buffer.from('16030102000100', 'hex');
const HALF_HEAD = 'POST /v1/mainnet HTTP/1.1\r\nhost: localhost\r\nx: ';
const BYTE_MS = 1_000;

/** Keeps many connections open: idle, within the TLS handshake, or within the head of a request. */
export const idleConnections: StartGreedy = (context) => {
  const { random, target } = context;
  const isTls = target.url.startsWith('https:');
  const what = random.pick(['idle', 'half head', ...(isTls ? ['half handshake', 'half handshake'] : [])]);
  const connections = new Connections(context, {
    count: sized(context, random.between(200, 1_500)),
    isRaw: what === 'half handshake',
    opened: (socket) => {
      socket.resume();
      if (what === 'half handshake') socket.write(HALF_HELLO);
      if (what === 'half head') socket.write(HALF_HEAD);
    },
  });
  const timer = setInterval(() => {
    if (what === 'half head') for (const socket of connections.sockets) socket.write('x');
  }, BYTE_MS);
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
