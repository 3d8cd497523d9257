/** Reads numbers and names of DNS messages. */

/** Size of the header of a DNS message (RFC 1035, 4.1.1). */
export const HEADER_BYTES = 12;
/** Size of the fields between the owner and the data of a record: type, class, TTL and data length. */
export const RECORD_HEAD_BYTES = 10;
const POINTER = 0xc0;

/** Reads a big-endian 16-bit number. Bytes after the end of the packet count as zero. */
export const readUint16 = (packet: Uint8Array, offset: number): number =>
  ((packet[offset] ?? 0) << 8) | (packet[offset + 1] ?? 0);

/** Returns the offset after a name, which may end in a compression pointer. Returns 0 if it exceeds the packet. */
export function skipName(packet: Uint8Array, start: number): number {
  for (let at = start; at < packet.length; ) {
    const size = packet[at] ?? 0;
    if (size === 0) return at + 1;
    if (size >= POINTER) return at + 2;
    at += size + 1;
  }
  return 0;
}
