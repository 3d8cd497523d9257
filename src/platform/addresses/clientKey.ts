import { groupsOf, plainAddress } from './ipNetworks.ts';

/** Groups in a /64, because one client usually controls all 2^64 addresses of it. */
const NETWORK_GROUPS = 4;

/** Returns the key that identifies a client: the IPv4 address, even if mapped, or the /64 network of IPv6. */
export function clientKey(text: string): string {
  if (!text.includes(':')) return text;
  const address = plainAddress(text);
  if (!address.includes(':')) return address;
  return `${groupsOf(address).slice(0, NETWORK_GROUPS).join(':')}::/64`;
}
