import { GATEWAY_PATH, hexBlock, rpcCall } from '../target.ts';
import { Connections, requestBytes } from './connections.ts';
import { type StartGreedy, sized } from './greedy.ts';

const CALLS_PER_BATCH = 20;
const BYTES_PER_READ = 2_048;
const READ_MS = 200;

/** Requests large responses, several at a time, and reads them slowly. */
export const slowReaders: StartGreedy = (context) => {
  const { random, target } = context;
  const call = rpcCall('trace_block', [hexBlock(target.chain.largeBlock)]);
  const body = random.chance(0.5) ? call : Array.from({ length: CALLS_PER_BATCH }, () => call);
  const request = requestBytes(context, GATEWAY_PATH, { body });
  const pipelined = random.between(1, 8);
  const connections = new Connections(context, {
    count: sized(context, random.between(10, 150)),
    opened: (socket) => {
      // In paused mode, only `read` takes bytes.
      socket.on('readable', () => undefined);
      for (let i = 0; i < pipelined; i++) socket.write(request);
    },
  });
  const timer = setInterval(() => {
    for (const socket of connections.sockets) socket.read(BYTES_PER_READ);
  }, READ_MS);
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
