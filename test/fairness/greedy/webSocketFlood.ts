import type { WebSocket } from 'ws';
import { hexBlock, rpcCall } from '../target.ts';
import { type StartGreedy, sized } from './greedy.ts';
import { WebSockets } from './webSockets.ts';

const TICK_MS = 5;
const MESSAGES_PER_TICK = 50;
const MAX_BUFFERED_BYTES = 1_000_000;
const PING_BYTES = 100;

/** Sends messages over WebSockets as fast as possible: small calls, large results that it does not read, or pings. */
export const webSocketFlood: StartGreedy = (context) => {
  const { random, target } = context;
  const what = random.pick(['calls', 'unread results', 'pings', 'rejected calls']);
  const call = JSON.stringify(
    {
      calls: rpcCall('eth_chainId', []),
      'unread results': rpcCall('trace_block', [hexBlock(target.chain.largeBlock)]),
      'rejected calls': rpcCall('admin_peers', []),
      pings: {},
    }[what],
  );
  const sockets = new WebSockets(context, sized(context, random.between(2, 50)), (socket) => {
    socket.on('message', () => undefined);
    if (what === 'unread results') socket.pause();
  });
  const ping = Buffer.alloc(PING_BYTES);
  let count = 0;
  const send = (socket: WebSocket): void => {
    for (let i = 0; i < MESSAGES_PER_TICK; i++) {
      if (socket.readyState !== socket.OPEN || socket.bufferedAmount > MAX_BUFFERED_BYTES) return;
      if (what === 'pings') socket.ping(ping);
      else socket.send(call);
      count++;
    }
  };
  const timer = setInterval(() => {
    for (const socket of sockets.sockets) send(socket);
  }, TICK_MS);
  return {
    get count() {
      return count;
    },
    stop() {
      clearInterval(timer);
      sockets.stop();
    },
  };
};
