import { crc32 } from 'node:zlib';

/** Stands before a value with a checksum; no JSON begins with it, so values of the format before are told from these. */
const MARK = 0x01;
const HEADER_BYTES = 5;

/**
 * Encodes values as JSON behind a checksum: a page of another time, or bytes that a disk changed, are an error and never another
 * rule. Reads what was written before there were checksums. `what` names the records in the error.
 */
export function checksummedJson(what: string): {
  encode(value: unknown): Buffer;
  decode(bytes: Uint8Array, end?: number): unknown;
} {
  return {
    encode(value) {
      const json = Buffer.from(JSON.stringify(value));
      const bytes = Buffer.allocUnsafe(HEADER_BYTES + json.length);
      bytes[0] = MARK;
      bytes.writeUInt32BE(crc32(json), 1);
      json.copy(bytes, HEADER_BYTES);
      return bytes;
    },
    decode(bytes, end) {
      const record = Buffer.from(
        bytes.buffer,
        bytes.byteOffset,
        typeof end === 'number' ? end : bytes.length,
      );
      if (record[0] !== MARK) return JSON.parse(record.toString());
      const json = record.subarray(HEADER_BYTES);
      if (crc32(json) !== record.readUInt32BE(1))
        throw new Error(`a record of ${what} is damaged: its checksum is another`);
      return JSON.parse(json.toString());
    },
  };
}
