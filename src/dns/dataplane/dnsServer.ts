import type { ServerAddress } from '../../platform/addresses/index.ts';

/** A DNS server behind the guard. */
export interface DnsServer extends ServerAddress {
  /** Whether it is told who asks, by PROXY protocol version 2 in front of each query and connection. */
  readonly proxyProtocol?: boolean;
}
