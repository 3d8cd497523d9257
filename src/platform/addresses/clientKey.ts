import { groupsOf, plainAddress } from './ipNetworks.ts';

/** Groups of an IPv6 address that name a network: whoever has one has all 2^64 addresses in it. */
const NETWORK_GROUPS = 4;

/** Who counts as one client: an IPv4 address (also where IPv6 carries it), or the /64 of an IPv6 one. */
export function clientKey(text: string): string {
  if (!text.includes(':')) return text;
  const address = plainAddress(text);
  if (!address.includes(':')) return address;
  return `${groupsOf(address).slice(0, NETWORK_GROUPS).join(':')}::/64`;
}
