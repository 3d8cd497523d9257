import { rpcCall } from '../target.ts';
import { type StartGreedy, sized } from './greedy.ts';
import { WebSockets } from './webSockets.ts';

const TOPICS = 1_000;
const PER_SOCKET = 50;

/** Subscribes to logs with many topics, and to everything else, on several WebSockets. */
export const subscriptions: StartGreedy = (context) => {
  const { random } = context;
  const hasTopics = random.chance(0.7);
  let count = 0;
  const sockets = new WebSockets(context, sized(context, random.between(4, 20)), (socket) => {
    socket.on('message', () => undefined);
    for (let i = 0; i < PER_SOCKET; i++) {
      const topics = [Array.from({ length: TOPICS }, () => random.hex(32))];
      const params = hasTopics ? ['logs', { topics }] : [random.pick(['logs', 'newHeads'])];
      socket.send(JSON.stringify(rpcCall('eth_subscribe', params, i)));
      count++;
    }
  });
  return {
    get count() {
      return count;
    },
    stop: () => sockets.stop(),
  };
};
