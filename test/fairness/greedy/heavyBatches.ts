import { GATEWAY_PATH, rpcCall } from '../target.ts';
import { Connections, keepAsking, requestBytes } from './connections.ts';
import { type StartGreedy, sized } from './greedy.ts';

const CALLS_PER_BATCH = 100;
const MAX_RANGE = 800;
/** More matches than any range has, so that a call reads every match and returns none. */
const AFTER = 1_000_000;

/** Sends batches of 100 expensive `trace_filter` calls on many connections. */
export const heavyBatches: StartGreedy = (context) => {
  const { random, target } = context;
  const { firstIndexed, head, recipients, senders } = target.chain;
  const addresses = random.between(1, 40);
  const filter = {
    fromBlock: Math.max(firstIndexed, head - MAX_RANGE + 1),
    toBlock: head,
    fromAddress: senders.slice(0, addresses),
    toAddress: recipients.slice(0, addresses),
    ...(random.chance(0.5) && { mode: 'union' }),
    after: random.chance(0.5) ? AFTER : 0,
    count: 200,
  };
  const batch = Array.from({ length: CALLS_PER_BATCH }, (_, id) => rpcCall('trace_filter', [filter], id));
  const request = requestBytes(context, GATEWAY_PATH, { body: batch });
  let count = 0;
  const connections = new Connections(context, {
    count: sized(context, random.between(20, 200)),
    opened: (socket) =>
      keepAsking(socket, {
        ahead: 1,
        request: () => request,
        answered: () => count++,
      }),
  });
  return {
    get count() {
      return count;
    },
    stop: () => connections.stop(),
  };
};
