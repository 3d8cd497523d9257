import { GATEWAY_PATH } from '../target.ts';
import { Connections } from './connections.ts';
import { type StartGreedy, sized } from './greedy.ts';

const BODY_BYTES = 2_000_000;
const LAST_BYTES = 10_000;
const BYTE_MS = 1_000;

/** Sends most of large bodies at once, and the rest one byte per second. */
export const slowBodies: StartGreedy = (context) => {
  const most = Buffer.alloc(BODY_BYTES - LAST_BYTES, ' ');
  const head = `POST ${GATEWAY_PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${BODY_BYTES}\r\n\r\n`;
  const connections = new Connections(context, {
    count: sized(context, context.random.between(50, 300)),
    opened: (socket) => {
      socket.resume();
      socket.write(head);
      socket.write(most);
    },
  });
  const timer = setInterval(() => {
    for (const socket of connections.sockets) socket.write(' ');
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
