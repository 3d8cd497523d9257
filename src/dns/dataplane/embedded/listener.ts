import type { ServerAddress } from '../../../platform/addresses/index.ts';
import type { Log } from '../../../platform/logging/index.ts';
import type { TcpRelay } from './tcp/tcpRelay.ts';
import { type FrontendNumbers, UdpAddresses } from './udp/udpAddresses.ts';
import type { UdpRelay } from './udp/udpRelay.ts';

export interface Listener {
  readonly address: ServerAddress;
  readonly udp: UdpAddresses;
}

/** If the configured port is 0, at most this many free TCP ports are tried until one is also free for UDP. */
const PORT_ATTEMPTS = 20;

export interface ListenDependencies {
  /** Numbers of the addresses over UDP. Over TCP, `index` is the number. */
  readonly numbers: FrontendNumbers;
  readonly udp: UdpRelay;
  readonly tcp: TcpRelay;
  readonly log: Log;
}

/**
 * Listens on one port for UDP and TCP. Port 0 picks a port that is free for both. Rejects if the port is in use. UDP
 * ports can be shared, so only binding TCP detects another guard on the port; therefore TCP is bound first.
 */
export async function listenAt(
  { host, port }: ServerAddress,
  index: number,
  { numbers, udp, tcp, log }: ListenDependencies,
): Promise<Listener> {
  for (let attempt = 1; ; attempt++) {
    const address = { host, port: await tcp.listen(index, { host, port }) };
    try {
      const addresses = new UdpAddresses(address, numbers, { udp, log });
      await addresses.start();
      return { address, udp: addresses };
    } catch (error) {
      await tcp.unlisten(index);
      if (port !== 0 || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}
