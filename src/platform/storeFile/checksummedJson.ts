import { crc32 } from 'node:zlib';

/** First byte of each record. JSON cannot start with it. */
const MARK = 0x01;
const HEADER_BYTES = 5;

/**
 * Returns an encoding of records as JSON with a checksum, which detects stale pages and disk errors. `what` names the
 * records in errors.
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
      const json = record.subarray(HEADER_BYTES);
      if (record[0] !== MARK || record.length < HEADER_BYTES || crc32(json) !== record.readUInt32BE(1))
        throw new Error(`a record of ${what} is damaged: its checksum does not match`);
      return JSON.parse(json.toString());
    },
  };
}
