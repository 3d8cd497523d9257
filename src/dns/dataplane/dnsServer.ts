import type { ServerAddress } from '../../platform/addresses/index.ts';

/** A DNS server to which the guard forwards queries (a backend). */
export interface DnsServer extends ServerAddress {
  /** Transports over which queries get a PROXY protocol header. Default: none. Knot 3.2 accepts it only over UDP. */
  readonly proxyProtocol?: 'udp' | 'udp and tcp' | undefined;
}
