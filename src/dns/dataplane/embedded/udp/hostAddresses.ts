/**
 * Determines the host addresses that a wildcard covers. A socket bound to a wildcard answers from the address of the
 * return route, which may differ from the queried address, and clients reject such answers. Therefore each address gets
 * its own socket.
 */
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { groupsOf } from '../../../../platform/addresses/index.ts';

type Interfaces = ReturnType<typeof networkInterfaces>;

/** Maximum addresses per wildcard, because each needs sockets in every thread. With more, the user must list them. */
export const MAX_HOST_ADDRESSES = 256;

/** Returns true for 0.0.0.0 and ::, in any notation. */
export const isWildcard = (host: string): boolean =>
  isIPv6(host) ? groupsOf(host).every((group) => group === '0') : host === '0.0.0.0';

/**
 * Returns only the IPv4 addresses for 0.0.0.0, but all addresses for ::, which serves both families. Skips link-local
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
