import { groupsOf, plainAddress } from './ipNetworks.ts';

/** Number of 16-bit groups in a /64 prefix. One client usually controls all 2^64 addresses of such a network. */
const NETWORK_GROUPS = 4;

/** Returns the key of a client: its IPv4 address, also if IPv4-mapped, or the /64 network of its IPv6 address. */
export function clientKey(text: string): string {
  if (!text.includes(':')) return text;
  const address = plainAddress(text);
  if (!address.includes(':')) return address;
  return `${groupsOf(address).slice(0, NETWORK_GROUPS).join(':')}::/64`;
}
