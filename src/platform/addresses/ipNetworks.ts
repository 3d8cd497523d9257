/** Networks of clients. IPv4-mapped addresses (`::ffff:192.0.2.1`) count as IPv4. */
import { isIP } from 'node:net';

const GROUP_BITS = 16;
const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;
const MAPPED_BITS = 96;

/** An IP network without bits set after its prefix. A single address is a network with the full prefix length. */
export interface Network {
  /** IPv4 address in dotted form, or IPv6 address as eight groups. */
  readonly address: string;
  readonly bits: number;
}

/** Thrown if a string is not a valid network. The message contains the reason. */
export class BadNetworkError extends Error {
  constructor(text: string, why: string) {
    super(`"${text}" ${why}; allowed: networks (192.0.2.0/24, 2001:db8::/32) and addresses (192.0.2.7)`);
    this.name = 'BadNetworkError';
  }
}

/** Parses a network or an address: `192.0.2.0/24`, `2001:db8::/32` or `192.0.2.7`. Throws `BadNetworkError`. */
export function parseNetwork(text: string): Network {
  const [written = '', prefix, ...rest] = text.split('/');
  // An address with a zone index (fe80::1%eth0) is valid on one machine only.
  if (isIP(written) === 0 || written.includes('%') || rest.length > 0)
    throw new BadNetworkError(text, 'is neither an address nor a network');
  // In a network, the IPv4 part may be in hexadecimal: ::ffff:c000:200/120.
  const ipv4 = isIP(written) === 6 ? mappedAddress(groupsOf(written)) : undefined;
  const isMapped = ipv4 !== undefined;
  const address = ipv4 ?? written;
  const allBits = isIP(address) === 6 ? 128 : 32;
  const writtenBits = isMapped ? allBits + MAPPED_BITS : allBits;
  if (prefix !== undefined && !(/^\d{1,3}$/.test(prefix) && Number(prefix) <= writtenBits))
    throw new BadNetworkError(text, `has a prefix that is not a number from 0 to ${writtenBits}`);
  const bits = prefix === undefined ? allBits : Number(prefix) - (isMapped ? MAPPED_BITS : 0);
  if (bits < 0) throw new BadNetworkError(text, 'is wider than all of IPv4');
  const value = bitsOf(address);
  if (value.slice(bits).includes('1'))
    throw new BadNetworkError(text, `has bits set after its prefix of ${prefix}`);
  return { address: allBits === 32 ? address : groupsOf(address).join(':'), bits };
}

/** Returns a network as text: `192.0.2.0/24`. */
export const networkText = ({ address, bits }: Network): string => `${address}/${bits}`;

/** Returns a function that checks if an address is in one of the networks. No IPv4 address is in an IPv6 network. */
export function networkMatcher(networks: readonly Network[]): (address: string) => boolean {
  const prefixes = networks.map(({ address, bits }) => ({
    isIpv6: address.includes(':'),
    prefix: bitsOf(address).slice(0, bits),
  }));
  return (text) => {
    const address = plainAddress(text);
    if (isIP(address) === 0) return false;
    const bits = bitsOf(address);
    return prefixes.some(({ isIpv6, prefix }) => isIpv6 === address.includes(':') && bits.startsWith(prefix));
  };
}

/** Converts an IPv4-mapped address to IPv4, and removes the zone index of an IPv6 address. */
export const plainAddress = (address: string): string => address.replace(/%.*$/, '').replace(MAPPED, '');

/** Returns the eight groups of an IPv6 address in hexadecimal, without leading zeros. */
export function groupsOf(address: string): string[] {
  const inDots = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [, start = '', ...octets] = inDots ?? [];
  const [a = 0, b = 0, c = 0, d = 0] = octets.map(Number);
  const text = inDots ? `${start}${hex(a * 256 + b)}:${hex(c * 256 + d)}` : address;
  const [before = [], after] = text.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const zeros = after === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...(after ?? [])].map((group) =>
    hex(Number.parseInt(group, 16)),
  );
}

/** Returns the IPv4 address in an IPv4-mapped IPv6 address, or undefined for other IPv6 addresses. */
function mappedAddress(groups: readonly string[]): string | undefined {
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return undefined;
  const octets = groups.slice(6).flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
  return octets.join('.');
}

const hex = (value: number): string => value.toString(16);

function bitsOf(address: string): string {
  if (!address.includes(':'))
    return address
      .split('.')
      .map((octet) => Number(octet).toString(2).padStart(8, '0'))
      .join('');
  return groupsOf(address)
    .map((group) => Number.parseInt(group, 16).toString(2).padStart(GROUP_BITS, '0'))
    .join('');
}
