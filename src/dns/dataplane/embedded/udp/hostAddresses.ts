/**
 * Determines the host addresses that a wildcard (0.0.0.0 or ::) covers, so that each gets its own socket. A socket
 * that is bound to a wildcard sends answers from the address of the route to the client. If the client queried
 * another address, it rejects the answer.
 */
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { groupsOf } from '../../../../platform/addresses/index.ts';

type Interfaces = ReturnType<typeof networkInterfaces>;

/** Maximum number of addresses per wildcard, because each needs sockets in every thread. */
export const MAX_HOST_ADDRESSES = 256;

/** Returns true for 0.0.0.0 and ::, in any notation. */
export const isWildcard = (host: string): boolean =>
  isIPv6(host) ? groupsOf(host).every((group) => group === '0') : host === '0.0.0.0';

/**
 * Returns the addresses of this host: only IPv4 for 0.0.0.0, but IPv4 and IPv6 for ::. Skips link-local IPv6
 * addresses, because each is valid on one interface only.
 */
export function hostAddresses(wildcard: string, interfaces: Interfaces = networkInterfaces()): string[] {
  const addresses = Object.values(interfaces).flatMap((all = []) =>
    all.filter(({ address, family, scopeid }) =>
      family === 'IPv4' ? true : isIPv6(wildcard) && !scopeid && !address.toLowerCase().startsWith('fe80:'),
    ),
  );
  return [...new Set(addresses.map(({ address }) => address))];
}
