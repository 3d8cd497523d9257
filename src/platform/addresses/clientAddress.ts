import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Number of addresses read from the end of X-Forwarded-For. Earlier addresses may be forged and are ignored. */
const MAX_HOPS = 16;
/** Number of characters that are read from the end of X-Forwarded-For. An address has at most 45, plus separators. */
const MAX_HEADER_CHARACTERS = MAX_HOPS * 48;

export type ClientAddress = (request: IncomingMessage) => string;

/** Returns the address of the other end of the connection, which may be a proxy. */
export const addressOfSocket: ClientAddress = ({ socket }) => socket.remoteAddress ?? '';

/** Returns a function that checks if an address is in a list of addresses and networks. Throws as `clientAddressReader`. */
export function proxyMatcher(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const trusted = new BlockList();
  for (const entry of trustedProxies) addTo(trusted, entry);
  return (text) => {
    const address = plain(text);
    return isIP(address) !== 0 && trusted.check(address, familyOf(address));
  };
}

/**
 * Returns the function that determines the client address of a request. It is the socket's address or, if that
 * belongs to a trusted proxy, the right-most untrusted address in X-Forwarded-For. Clients may forge entries further
 * left. Throws an error that names an invalid entry of `trustedProxies`.
 */
export function clientAddressReader(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = proxyMatcher(trustedProxies);
  return ({ socket, headers }) => {
    let client = plain(socket.remoteAddress ?? '');
    if (!isTrusted(client)) return client;
    const header = [headers['x-forwarded-for'] ?? []].flat().join(',').slice(-MAX_HEADER_CHARACTERS);
    for (const hop of header.split(',').slice(-MAX_HOPS).reverse()) {
      const address = plain(withoutPort(hop.trim()));
      if (isIP(address) === 0) return client;
      client = address;
      if (!isTrusted(address)) return client;
    }
    return client;
  };
}

/**
 * Returns the function that determines whether a client sent a request over TLS: to this server, or to a trusted proxy
 * that reports it with `X-Forwarded-Proto`. Throws as `clientAddressReader`.
 */
export function httpsReader(trustedProxies: readonly string[]): (request: IncomingMessage) => boolean {
  const isTrusted = proxyMatcher(trustedProxies);
  return ({ socket, headers }) => {
    if ('encrypted' in socket) return true;
    if (!isTrusted(socket.remoteAddress ?? '')) return false;
    return [headers['x-forwarded-proto'] ?? []].flat().join(',').split(',').at(-1)?.trim() === 'https';
  };
}

function addTo(list: BlockList, entry: string): void {
  const [address = '', prefix, ...rest] = entry.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  const isNetwork = prefix !== undefined;
  if (isIP(address) === 0 || rest.length > 0 || (isNetwork && !(/^\d{1,3}$/.test(prefix) && +prefix <= bits)))
    throw new Error(
      `http.trustedProxies contains "${entry}"; allowed: addresses (192.0.2.7) and networks (10.0.0.0/8)`,
    );
  if (isNetwork) list.addSubnet(address, Number(prefix), familyOf(address));
  else list.addAddress(address, familyOf(address));
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Removes the port of `192.0.2.1:4711` or `[2001:db8::1]:4711`, which some proxies and load balancers append. */
const withoutPort = (hop: string): string =>
  hop.replace(/^\[(.*)\](?::\d{1,5})?$/, '$1').replace(/^([\d.]+):\d{1,5}$/, '$1');

/** Converts an IPv4-mapped address, which a dual-stack socket reports, to IPv4. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
