import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Proxies in a row that are looked through; a longer list is a client's own making. */
const MAX_HOPS = 16;
/** An IPv6 address has at most 45 characters; the list is read from its end, and no further than so many addresses. */
const MAX_HEADER_CHARACTERS = MAX_HOPS * 48;

/** What tells the address of a request's client. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * The address whose calls are counted: the socket's, and where that is a trusted proxy's, the right-most address of
 * X-Forwarded-For that is none. What stands left of it the client may have written itself.
 * Throws an error naming the entry that is neither an address nor a network.
 */
export function clientAddressBehind(trustedProxies: readonly string[]): ClientAddress {
  const trusted = new BlockList();
  for (const entry of trustedProxies) addTo(trusted, entry);
  const isTrusted = (address: string): boolean => trusted.check(address, familyOf(address));
  return ({ socket, headers }) => {
    let client = plain(socket.remoteAddress ?? '');
    if (trustedProxies.length === 0 || isIP(client) === 0 || !isTrusted(client)) return client;
    const header = [headers['x-forwarded-for'] ?? []].flat().join(',').slice(-MAX_HEADER_CHARACTERS);
    for (const hop of header.split(',').slice(-MAX_HOPS).reverse()) {
      const address = plain(hop.trim());
      if (isIP(address) === 0) return client;
      client = address;
      if (!isTrusted(address)) return client;
    }
    return client;
  };
}

function addTo(list: BlockList, entry: string): void {
  const [address = '', prefix, ...rest] = entry.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const isNetwork = prefix !== undefined;
  if (isIP(address) === 0 || rest.length > 0 || (isNetwork && !(/^\d{1,3}$/.test(prefix) && +prefix <= bits)))
    throw new Error(
      `http.trustedProxies has "${entry}"; write addresses (192.0.2.7) or networks (10.0.0.0/8)`,
    );
  if (isNetwork) list.addSubnet(address, Number(prefix), familyOf(address));
  else list.addAddress(address, familyOf(address));
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** An IPv4 address as a socket of both families writes it, in its own form. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
