/** Reads the UDP datagrams of a packet capture in pcap format, as written by tcpdump. */

export interface Datagram {
  /** Capture time in milliseconds since 1970. */
  readonly timeMs: number;
  /** Source address as text: dotted IPv4, or IPv6 in eight hexadecimal groups. `destination` has the same form. */
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly payload: Uint8Array;
}

/** Thrown for a capture that cannot be read. For a wrong format, the message explains how to get a pcap file. */
export class PcapError extends Error {
  override readonly name = 'PcapError';
}

const FILE_HEADER_BYTES = 24;
const PACKET_HEADER_BYTES = 16;
/** Maximum length of a packet that tcpdump captures. A greater length in a file means that the file is corrupt. */
const MAX_PACKET_BYTES = 262_144;
const MAGIC = { microseconds: 0xa1b2c3d4, nanoseconds: 0xa1b23c4d, pcapng: 0x0a0d0d0a } as const;
/**
 * Number of bytes before the IP packet, by link type: BSD loopback (0), Ethernet (1), raw IP (101), Linux cooked v1
 * (113), IPv4 (228), IPv6 (229), Linux cooked v2 (276).
 */
const LINK_HEADER_BYTES: Readonly<Record<number, number>> = {
  0: 4,
  1: 14,
  101: 0,
  113: 16,
  228: 0,
  229: 0,
  276: 20,
};
const ETHERNET = 1;
const VLAN = 0x8100;
const VLAN_BYTES = 4;
const UDP = 17;
const IPV6_HEADER_BYTES = 40;
const UDP_HEADER_BYTES = 8;

/** Yields the UDP datagrams of a capture. Skips fragments and all packets that are not UDP over IP. */
export async function* datagramsOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Datagram> {
  let pending: Buffer = Buffer.alloc(0);
  let format: Format | undefined;
  for await (const piece of pieces) {
    pending = pending.length === 0 ? piece : Buffer.concat([pending, piece]);
    if (format === undefined) {
      if (pending.length < FILE_HEADER_BYTES) continue;
      format = formatOf(pending);
      pending = pending.subarray(FILE_HEADER_BYTES);
    }
    let at = 0;
    while (at + PACKET_HEADER_BYTES <= pending.length) {
      const length = format.read32(pending, at + 8);
      if (length > MAX_PACKET_BYTES)
        throw new PcapError('corrupt capture: a packet exceeds the maximum length');
      const end = at + PACKET_HEADER_BYTES + length;
      if (end > pending.length) break;
      const timeMs = format.read32(pending, at) * 1000 + format.read32(pending, at + 4) / format.ticksPerMs;
      const datagram = datagramOf(pending.subarray(at + PACKET_HEADER_BYTES, end), format.link, timeMs);
      if (datagram !== undefined) yield datagram;
      at = end;
    }
    pending = pending.subarray(at);
  }
  if (format === undefined) throw new PcapError('the file is too short for a pcap capture');
}

interface Format {
  readonly link: number;
  readonly ticksPerMs: number;
  readonly read32: (bytes: Buffer, at: number) => number;
}

function formatOf(header: Buffer): Format {
  const little = header.readUInt32LE(0);
  const big = header.readUInt32BE(0);
  if (little === MAGIC.pcapng)
    throw new PcapError('pcapng captures are not supported: convert the file with `editcap -F pcap IN OUT`');
  const isLittle = little === MAGIC.microseconds || little === MAGIC.nanoseconds;
  const magic = isLittle ? little : big;
  if (magic !== MAGIC.microseconds && magic !== MAGIC.nanoseconds)
    throw new PcapError('the file is not a pcap capture: create one with `tcpdump -w FILE udp port 53`');
  const read32 = isLittle
    ? (bytes: Buffer, at: number) => bytes.readUInt32LE(at)
    : (bytes: Buffer, at: number) => bytes.readUInt32BE(at);
  const link = read32(header, 20) & 0xffff;
  if (LINK_HEADER_BYTES[link] === undefined)
    throw new PcapError(
      `link type ${link} is not supported, only Ethernet, raw IP, loopback and Linux cooked`,
    );
  return { link, ticksPerMs: magic === MAGIC.nanoseconds ? 1_000_000 : 1000, read32 };
}

function datagramOf(frame: Buffer, link: number, timeMs: number): Datagram | undefined {
  let at = LINK_HEADER_BYTES[link] ?? 0;
  if (link === ETHERNET) while (frame.length >= at && readAt(frame, at - 2) === VLAN) at += VLAN_BYTES;
  const ip = frame.subarray(at);
  const version = (ip[0] ?? 0) >> 4;
  if (version === 4) return ipv4Datagram(ip, timeMs);
  return version === 6 ? ipv6Datagram(ip, timeMs) : undefined;
}

function ipv4Datagram(ip: Buffer, timeMs: number): Datagram | undefined {
  const headerBytes = ((ip[0] ?? 0) & 0x0f) * 4;
  const isFragment = (readAt(ip, 6) & 0x3fff) !== 0;
  if (ip.length < headerBytes + UDP_HEADER_BYTES || ip[9] !== UDP || isFragment) return undefined;
  const addresses = [ip.subarray(12, 16).join('.'), ip.subarray(16, 20).join('.')] as const;
  return udpDatagram(ip.subarray(headerBytes), addresses, timeMs);
}

/** Returns undefined for packets with extension headers, which DNS packets do not have in practice. */
function ipv6Datagram(ip: Buffer, timeMs: number): Datagram | undefined {
  if (ip.length < IPV6_HEADER_BYTES + UDP_HEADER_BYTES || ip[6] !== UDP) return undefined;
  const groupsAt = (at: number): string =>
    Array.from({ length: 8 }, (_, group) =>
      readAt(ip, at + 2 * group)
        .toString(16)
        .padStart(4, '0'),
    ).join(':');
  return udpDatagram(ip.subarray(IPV6_HEADER_BYTES), [groupsAt(8), groupsAt(24)], timeMs);
}

function udpDatagram(
  udp: Buffer,
  [source, destination]: readonly [string, string],
  timeMs: number,
): Datagram {
  const payload = udp.subarray(UDP_HEADER_BYTES, Math.max(UDP_HEADER_BYTES, readAt(udp, 4)));
  return {
    timeMs,
    source,
    destination,
    sourcePort: readAt(udp, 0),
    destinationPort: readAt(udp, 2),
    payload,
  };
}

const readAt = (bytes: Buffer, at: number): number => (at + 2 <= bytes.length ? bytes.readUInt16BE(at) : 0);
