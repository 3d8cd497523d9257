import { DEFAULT_TIMEOUT_MS, type EmbeddedOptions } from './embeddedDataPlane.ts';
import { MAX_SERVER_CONNECTIONS } from './tcp/serverSlots.ts';
import { MAX_CONNECTIONS } from './tcp/tcpAdmission.ts';
import { cannotSharePort, threadsFor } from './threads/index.ts';
import { hostAddresses, isWildcard } from './udp/hostAddresses.ts';
import { SOCKETS_PER_THREAD } from './udp/localUdpRelay.ts';
import { SOCKETS } from './udp/upstreamSockets.ts';

/** Descriptors that Node.js opens for a thread. */
const THREAD_DESCRIPTORS = 8;

/** Returns the maximum number of file descriptors that the data plane opens. */
export function maxDescriptors({
  listen,
  servers,
  threads: wanted = 1,
  timeoutMs = DEFAULT_TIMEOUT_MS,
}: Pick<EmbeddedOptions, 'listen' | 'servers' | 'threads' | 'timeoutMs'>): number {
  const threads = threadsFor(wanted, cannotSharePort());
  const addresses = listen.flatMap(({ host }) => (isWildcard(host) ? hostAddresses(host) : [host]));
  const listeners = listen.length + addresses.length * threads * SOCKETS_PER_THREAD;
  const probes = servers.length;
  // One socket to each server is replaced every second, and stays open for the timeout.
  const sockets = SOCKETS + Math.ceil(timeoutMs / 1_000) + 1;
  const upstream = servers.length * threads * sockets + probes;
  const connections = MAX_CONNECTIONS + MAX_SERVER_CONNECTIONS;
  return connections + listeners + upstream + (threads + 1) * THREAD_DESCRIPTORS;
}
