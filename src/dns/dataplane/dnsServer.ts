import type { ServerAddress } from '../../platform/addresses/index.ts';

/** A DNS server behind the guard. */
export interface DnsServer extends ServerAddress {
  /** Where it is told who asks, by PROXY protocol version 2; nowhere where left out. Knot 3.2 takes it over UDP only. */
  readonly proxyProtocol?: 'udp' | 'udp and tcp' | undefined;
}
