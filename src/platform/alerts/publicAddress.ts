import { isIP } from 'node:net';
import { parseNetwork, within } from '../addresses/index.ts';

/** Made for the first who asks: few servers send alerts. */
function networks(...texts: string[]): (address: string) => boolean {
  let isWithin: ((address: string) => boolean) | undefined;
  return (address) => {
    isWithin ??= within(texts.map(parseNetwork));
    return isWithin(address);
  };
}

/** What of IPv4 is not of the public Internet, by IANA's special-purpose registry: private, loopback, link-local, and so on. */
const isSpecialIpv4 = networks(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // Azure's platform answers here, in every machine of its own.
  '168.63.129.16',
);
/** All unicast of IPv6 that is given out lies in here, */
const isGlobalIpv6 = networks('2000::/3');
/** but for tunnels that carry IPv4 (Teredo, 6to4), what is for documentation, and the like. */
const isSpecialIpv6 = networks('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

/** Whether an address, as a resolver or a URL writes it, is one of the public Internet. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  if (isGlobalIpv6(address)) return !isSpecialIpv6(address);
  // IPv4, also where IPv6 carries it; every other address of IPv6 is refused.
  return isIP(address.replace(/^::ffff:/i, '')) === 4 && !isSpecialIpv4(address);
}
