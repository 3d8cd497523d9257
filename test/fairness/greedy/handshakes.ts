import { connect } from 'node:tls';
import { LOOPBACK } from '../target.ts';
import { type StartGreedy, sized } from './greedy.ts';

/** Completes TLS handshakes in a loop, without resumption, and sends nothing. */
export const handshakes: StartGreedy = (context) => {
  const { target, address: localAddress, random } = context;
  // The types of Node do not list localAddress, which is passed to the socket.
  const port = Number(new URL(target.url).port);
  const options = { host: LOOPBACK, port, localAddress, rejectUnauthorized: false };
  let count = 0;
  let isStopped = false;
  const open = (): void => {
    if (isStopped) return;
    const socket = connect(options);
    socket.on('error', () => undefined);
    socket.once('secureConnect', () => {
      count++;
      socket.destroy();
    });
    socket.once('close', () => setImmediate(open));
  };
  for (let i = sized(context, random.between(4, 64)); i > 0; i--) open();
  return {
    get count() {
      return count;
    },
    stop() {
      isStopped = true;
    },
  };
};
