import type { ServerAddress } from '../../platform/addresses/index.ts';

/** A DNS server to which the guard forwards queries (a backend). */
export interface DnsServer extends ServerAddress {
  /** Transports with a PROXY protocol header (version 2). Default: none. Knot 3.2 accepts it over UDP only. */
  readonly proxyProtocol?: 'udp' | 'udp and tcp' | undefined;
}
