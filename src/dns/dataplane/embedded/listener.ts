import { once } from 'node:events';
import type { Server } from 'node:net';
import type { ServerAddress } from '../../../platform/addresses/index.ts';
import type { Log } from '../../../platform/logging/index.ts';
import type { TcpRelay } from './tcpRelay.ts';
import { type FrontendNumbers, UdpAddresses } from './udpAddresses.ts';
import type { UdpRelay } from './udpRelay.ts';

export interface Listener {
  readonly tcp: Server;
  readonly address: ServerAddress;
  readonly udp: UdpAddresses;
}

/** A port that is free over TCP may be taken over UDP: so many are tried for port 0. */
const PORT_ATTEMPTS = 20;
/** Connections that wait to be accepted: one for each place, so that those who come at once come in. */
const BACKLOG = 1024;

/**
 * Listens for UDP and TCP on one port; port 0 takes one that is free for both. Rejects where it is not. TCP comes first:
 * threads share a UDP port, and another guard that does the same must be told that it is taken.
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
      // One connection that the kernel could not hand over, for want of memory or descriptors: the others go on.
      tcp.on('error', (error) =>
        log.warn({ reason: error.message }, 'a connection of DNS over TCP could not be taken'),
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
