import { groupsOf, plainAddress } from './ipNetworks.ts';

/** Number of 16-bit groups in a /64 prefix. One client usually controls all 2^64 addresses of such a network. */
const NETWORK_GROUPS = 4;
const CLIENT_NETWORK = '::/64';

/** Returns the key of a client: its IPv4 address, also if IPv4-mapped, or the /64 network of its IPv6 address. */
export function clientKey(text: string): string {
  if (!text.includes(':')) return text;
  const address = plainAddress(text);
  if (!address.includes(':')) return address;
  return groupsOf(address).slice(0, NETWORK_GROUPS).join(':') + CLIENT_NETWORK;
}

/** Returns the /56 and the /48 network that contain a client key; none for IPv4. */
export function widerNetworks(client: string): readonly string[] {
  if (!client.endsWith(CLIENT_NETWORK)) return [];
  const [a, b, c, d = ''] = client.slice(0, -CLIENT_NETWORK.length).split(':');
  const site = `${a}:${b}:${c}`;
  return [`${site}:${(Number.parseInt(d, 16) & 0xff00).toString(16)}::/56`, `${site}::/48`];
}
