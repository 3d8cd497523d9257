/** PROXY protocol, version 2 (HAProxy specification, 2.2): a header that tells a server the address of the client. */
import { isIPv6 } from 'node:net';
import { groupsOf, plainAddress, type ServerAddress } from '../../../../platform/addresses/index.ts';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const PROXY = 0x21;
const IPV4 = 0x10;
const IPV6 = 0x20;
const STREAM = 0x1;
const DATAGRAM = 0x2;
const ADDRESSES_AT = 16;
const IPV4_BYTES = 4;
const IPV6_BYTES = 16;

/** Returns the header. Its command is PROXY also for the guard's own queries, because Knot 3.2 rejects LOCAL. */
export function proxyHeader(from: ServerAddress, to: ServerAddress, protocol: 'udp' | 'tcp'): Buffer {
  const [source, destination] = [plainAddress(from.host), plainAddress(to.host)];
  const isV6 = isIPv6(source) || isIPv6(destination);
  const bytes = isV6 ? IPV6_BYTES : IPV4_BYTES;
  const header = Buffer.alloc(ADDRESSES_AT + 2 * bytes + 4);
  SIGNATURE.copy(header);
  header[12] = PROXY;
  header[13] = (isV6 ? IPV6 : IPV4) | (protocol === 'udp' ? DATAGRAM : STREAM);
  header.writeUInt16BE(2 * bytes + 4, 14);
  writeAddress(header, ADDRESSES_AT, isV6 ? asIpv6(source) : source);
  writeAddress(header, ADDRESSES_AT + bytes, isV6 ? asIpv6(destination) : destination);
  header.writeUInt16BE(from.port, ADDRESSES_AT + 2 * bytes);
  header.writeUInt16BE(to.port, ADDRESSES_AT + 2 * bytes + 2);
  return header;
}

/** Returns the IPv4-mapped form of an IPv4 address, because a header cannot contain addresses of both families. */
const asIpv6 = (address: string): string => (isIPv6(address) ? address : `::ffff:${address}`);

function writeAddress(header: Buffer, at: number, address: string): void {
  if (address.includes(':')) {
    for (const [index, group] of groupsOf(address).entries())
      header.writeUInt16BE(Number.parseInt(group, 16), at + 2 * index);
  } else for (const [index, octet] of address.split('.').entries()) header[at + index] = Number(octet);
}

/** Listen addresses by frontend number, used as destinations in PROXY protocol headers. */
export class ListenAddresses {
  readonly #listens = new Map<number, ServerAddress>();

  listen(frontend: number, address: ServerAddress): void {
    this.#listens.set(frontend, address);
  }

  of(frontend: number): ServerAddress | undefined {
    return this.#listens.get(frontend);
  }
}
