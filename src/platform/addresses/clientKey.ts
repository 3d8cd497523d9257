import { isIPv6 } from 'node:net';

/** Groups of an IPv6 address that name a network: whoever has one has all 2^64 addresses in it. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/** By what the bytes of an address are counted: an IPv4 address itself, the /64 of an IPv6 address. */
export function clientKey(address: string): string {
  if (!isIPv6(address)) return address;
  const [withoutZone = ''] = address.split('%');
  const [before = '', behind] = withoutZone.split('::');
  const groups = before === '' ? [] : before.split(':');
  if (behind !== undefined) {
    const last = behind === '' ? [] : behind.split(':');
    // An IPv4 address at the end stands for two groups.
    const length = last.length + Number(behind.includes('.'));
    while (groups.length < GROUPS - length) groups.push('0');
    groups.push(...last);
  }
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
