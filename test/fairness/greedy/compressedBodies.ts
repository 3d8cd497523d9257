import { gzipSync } from 'node:zlib';
import { GATEWAY_PATH, rpcCall } from '../target.ts';
import { Connections, keepAsking, requestBytes } from './connections.ts';
import { type StartGreedy, sized } from './greedy.ts';

const BODY_BYTES = 2_000_000;
const BOMB_BYTES = 64_000_000;
const CALLS = 99;

/** Sends bodies that are small until they are decompressed: of the maximum size, above it, or that are hard to parse. */
export const compressedBodies: StartGreedy = (context) => {
  const { random } = context;
  const call = JSON.stringify(rpcCall('eth_chainId', []));
  const text = random.pick([
    () => call.padEnd(BODY_BYTES, ' '),
    () => `[${`${call},`.repeat(CALLS)}${call}]`.padEnd(BODY_BYTES, ' '),
    () => ' '.repeat(BOMB_BYTES),
    () => `[${'[],'.repeat(BODY_BYTES / 3 - 2)}[]]`,
  ])();
  const request = requestBytes(context, GATEWAY_PATH, {
    body: gzipSync(text),
    headers: ['content-encoding: gzip'],
  });
  let count = 0;
  const connections = new Connections(context, {
    count: sized(context, random.between(8, 128)),
    opened: (socket) => keepAsking(socket, { ahead: 1, request: () => request, answered: () => count++ }),
  });
  return {
    get count() {
      return count;
    },
    stop: () => connections.stop(),
  };
};
