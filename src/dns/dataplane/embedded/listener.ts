import { once } from 'node:events';
import type { Server } from 'node:net';
import type { ServerAddress } from '../../../platform/addresses/index.ts';
import type { Log } from '../../../platform/logging/index.ts';
import type { TcpRelay } from './tcp/tcpRelay.ts';
import { type FrontendNumbers, UdpAddresses } from './udp/udpAddresses.ts';
import type { UdpRelay } from './udp/udpRelay.ts';

export interface Listener {
  readonly tcp: Server;
  readonly address: ServerAddress;
  readonly udp: UdpAddresses;
}

/** If the configured port is 0, at most this many free TCP ports are tried until one is also free for UDP. */
const PORT_ATTEMPTS = 20;
/** Size of the accept queue: at least the maximum number of TCP connections, so that a burst fits. */
const BACKLOG = 1024;

/**
 * Listens on one port for UDP and TCP. Port 0 picks a port that is free for both. Rejects if the port is in use. UDP
 * ports can be shared, so only binding TCP detects another guard on the port; therefore TCP is bound first.
 */
export async function listenAt(
  { host, port }: ServerAddress,
  numbers: FrontendNumbers,
  { udp, tcp: relay, log }: { readonly udp: UdpRelay; readonly tcp: TcpRelay; readonly log: Log },
): Promise<Listener> {
  for (let attempt = 1; ; attempt++) {
    const tcp = relay.createServer();
    try {
      tcp.listen({ port, host, backlog: BACKLOG });
      await once(tcp, 'listening');
      // The error means that one TCP connection was not accepted, e.g. for lack of file descriptors.
      tcp.on('error', (error) =>
        log.warn({ reason: error.message }, 'cannot accept a DNS over TCP connection'),
      );
      const bound = tcp.address();
      const address = { host, port: typeof bound === 'object' && bound !== null ? bound.port : port };
      const addresses = new UdpAddresses(address, numbers, { udp, log });
      await addresses.start();
      return { tcp, address, udp: addresses };
    } catch (error) {
      await new Promise((resolve) => tcp.close(resolve));
      if (port !== 0 || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}
