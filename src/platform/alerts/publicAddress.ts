import { isIP } from 'node:net';
import { networkMatcher, parseNetwork } from '../addresses/index.ts';

/**
 * Returns a check whether an address is in one of the networks. They are parsed at its first use, because few servers
 * send alerts.
 */
function networks(...texts: string[]): (address: string) => boolean {
  let isWithin: ((address: string) => boolean) | undefined;
  return (address) => {
    isWithin ??= networkMatcher(texts.map(parseNetwork));
    return isWithin(address);
  };
}

/** IPv4 networks outside the public Internet, from IANA's special-purpose registry. */
const isSpecialIpv4 = networks(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Azure's platform services use this address in each virtual network.
  '168.63.129.16',
);
/** The network of all assigned global unicast IPv6 addresses. */
const isGlobalIpv6 = networks('2000::/3');
/** IPv6 networks within 2000::/3 that are not public: IPv4 tunnels (Teredo, 6to4), documentation and others. */
const isSpecialIpv6 = networks('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  if (isGlobalIpv6(address)) return !isSpecialIpv6(address);
  // An IPv6 address outside the global range is rejected, unless it maps a public IPv4 address.
  return isIP(address.replace(/^::ffff:/i, '')) === 4 && !isSpecialIpv4(address);
}
