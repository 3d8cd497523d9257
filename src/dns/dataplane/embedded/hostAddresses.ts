/**
 * The addresses that a wildcard stands for. A socket on a wildcard answers from whatever address the route back has, which on a
 * host with several is not always the one that was asked: clients take no such answer. So each address gets a socket of its own.
 */
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { groupsOf } from '../../../platform/addresses/index.ts';

type Interfaces = ReturnType<typeof networkInterfaces>;

/** Each costs sockets in every thread; who has more of them names those that are meant. */
export const MAX_HOST_ADDRESSES = 256;

/** Whether an address stands for all that the host has: 0.0.0.0 and ::, however it is written. */
export const isWildcard = (host: string): boolean =>
  isIPv6(host) ? groupsOf(host).every((group) => group === '0') : host === '0.0.0.0';

/**
 * The host's addresses now: those of IPv4 for 0.0.0.0, all for ::, as a socket on it takes both. Link-local ones are left out: they
 * mean something on one interface only.
 */
export function hostAddresses(wildcard: string, interfaces: Interfaces = networkInterfaces()): string[] {
  const addresses = Object.values(interfaces).flatMap((all = []) =>
    all.filter(({ address, family, scopeid }) =>
      family === 'IPv4' ? true : isIPv6(wildcard) && !scopeid && !address.toLowerCase().startsWith('fe80:'),
    ),
  );
  return [...new Set(addresses.map(({ address }) => address))];
}
