import type { EmbeddedOptions } from './embeddedDataPlane.ts';
import { MAX_SERVER_CONNECTIONS } from './tcp/serverSlots.ts';
import { MAX_CONNECTIONS } from './tcp/tcpAdmission.ts';
import { cannotSharePort, threadsFor } from './threads/index.ts';
import { hostAddresses, isWildcard } from './udp/hostAddresses.ts';
import { SOCKETS_PER_THREAD } from './udp/localUdpRelay.ts';
import { SOCKETS } from './udp/upstreamSockets.ts';

/** Replaced sockets that still wait for answers, per server and thread: one a second, for at most 10 seconds. */
const REPLACED_SOCKETS = 10;
/** Descriptors that Node.js opens for a thread. */
const THREAD_DESCRIPTORS = 8;

/** Returns the maximum number of file descriptors that the data plane opens. */
export function maxDescriptors({
  listen,
  servers,
  threads: wanted = 1,
}: Pick<EmbeddedOptions, 'listen' | 'servers' | 'threads'>): number {
  const threads = threadsFor(wanted, cannotSharePort());
  const addresses = listen.flatMap(({ host }) => (isWildcard(host) ? hostAddresses(host) : [host]));
  const listeners = listen.length + addresses.length * threads * SOCKETS_PER_THREAD;
  const probes = servers.length;
  const upstream = servers.length * threads * (SOCKETS + REPLACED_SOCKETS) + probes;
  const connections = MAX_CONNECTIONS + MAX_SERVER_CONNECTIONS;
  return connections + listeners + upstream + threads * THREAD_DESCRIPTORS;
}
