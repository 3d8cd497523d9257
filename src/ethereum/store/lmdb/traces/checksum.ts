import { crc32 } from 'node:zlib';
import { DamagedIndexError, partOf } from './damagedIndexError.ts';

/** Each record ends with the CRC-32 of its key and its value, little-endian. */
const CHECKSUM_BYTES = 4;

/** MDB_CORRUPTED and MDB_PAGE_NOTFOUND. */
const DAMAGE_CODES: readonly unknown[] = [-30_796, -30_797];

/** The key is last, because `crc32` of no bytes may ignore its second argument. */
const checksumOf = (key: Uint8Array, value: Uint8Array): number => crc32(key, crc32(value));

/** Returns the record that stores a value. */
export function encodeRecord(key: Uint8Array, value: Uint8Array): Buffer {
  const record = Buffer.allocUnsafe(value.length + CHECKSUM_BYTES);
  record.set(value);
  record.writeUInt32LE(checksumOf(key, value), value.length);
  return record;
}

/** Returns the value of a record, also if the checksum is wrong. It shares the record's memory. */
export const uncheckedValue = (record: Buffer): Buffer =>
  record.subarray(0, Math.max(0, record.length - CHECKSUM_BYTES));

/**
 * Returns the value of a record of the database `name`, which shares the record's memory. Throws DamagedIndexError if the
 * checksum is wrong. If lmdb cannot decompress a record, it returns other bytes instead of an error.
 */
export function decodeRecord(name: string, key: Buffer, record: Buffer): Buffer {
  const length = record.length - CHECKSUM_BYTES;
  const value = uncheckedValue(record);
  if (length < 0 || record.readUInt32LE(length) !== checksumOf(key, value))
    throw new DamagedIndexError(`${recordName(name, key)} does not match its checksum`, partOf(name, key));
  return value;
}

/** Returns a DamagedIndexError if `error` was thrown because a page or the length of a record is damaged. */
export function readError(name: string, key: Buffer, error: unknown): unknown {
  // lmdb throws a RangeError for an impossible length.
  const isDamaged =
    error instanceof RangeError || DAMAGE_CODES.includes((error as { code?: unknown } | undefined)?.code);
  return isDamaged
    ? new DamagedIndexError(`${recordName(name, key)} cannot be read: ${String(error)}`, partOf(name, key))
    : error;
}

const recordName = (name: string, key: Buffer): string =>
  `record ${name === 'meta' ? key.toString() : key.readUInt32BE(0)} of ${name}`;
