import type { ServerAddress } from '../../platform/addresses/index.ts';

/** A DNS server to which the guard forwards queries (a backend). */
export interface DnsServer extends ServerAddress {
  /** Transports that carry a PROXY header (version 2). Default: none. Knot 3.2 accepts the header only over UDP. */
  readonly proxyProtocol?: 'udp' | 'udp and tcp' | undefined;
}
