import { rpcCall } from '../target.ts';
import { type StartGreedy, sized } from './greedy.ts';
import { WebSockets } from './webSockets.ts';

const TOPICS = 1_000;
const PER_SOCKET = 50;
/** Addresses of a client that has several networks. */
const MANY_ADDRESSES = 32;

/** Subscribes to logs with many topics, or to everything, from one address or from many. */
export const subscriptions: StartGreedy = (context) => {
  const { random, address } = context;
  const hasTopics = random.chance(0.7);
  const addresses = random.chance(0.5)
    ? [address]
    : Array.from({ length: sized(context, MANY_ADDRESSES) }, (_, i) => `127.0.${50 + i}.1`);
  let count = 0;
  const perAddress = sized(context, random.between(4, 20));
  const clients = addresses.map(
    (from) =>
      new WebSockets({ ...context, address: from }, Math.ceil(perAddress / addresses.length), (socket) => {
        socket.on('message', () => undefined);
        for (let i = 0; i < PER_SOCKET; i++) {
          const topics = [Array.from({ length: TOPICS }, () => random.hex(32))];
          const params = hasTopics ? ['logs', { topics }] : [random.pick(['logs', 'newHeads'])];
          socket.send(JSON.stringify(rpcCall('eth_subscribe', params, i)));
          count++;
        }
      }),
  );
  return {
    get count() {
      return count;
    },
    stop() {
      for (const sockets of clients) sockets.stop();
    },
  };
};
