/** Rows to insert, encoded in ClickHouse's Native format. */
export interface Rows {
  readonly count: number;
  readonly pieces: readonly Uint8Array[];
}

/** Maximum size in bytes of an encoded number below 2^32. */
const MAX_VARINT_BYTES = 5;

/** A column of a table. Typed arrays are little-endian on all platforms of Node.js, as the format requires. */
type Column = readonly [name: string, type: string, values: ArrayBufferView];

/** Encodes rows in the Native format. Each column is one buffer, so values need not be converted one by one. */
export function nativeRows(count: number, columns: readonly Column[]): Rows {
  const size = Buffer.concat([varint(columns.length), varint(count)]);
  const pieces = columns.flatMap(([name, type, { buffer, byteOffset, byteLength }]) => [
    strings([Buffer.from(name), Buffer.from(type)]),
    new Uint8Array(buffer, byteOffset, byteLength),
  ]);
  return { count, pieces: [size, ...pieces] };
}

/** Encodes the values of a column of type String. The length of each value comes before the value. */
export function strings(values: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.allocUnsafe(values.reduce((sum, { length }) => sum + MAX_VARINT_BYTES + length, 0));
  let at = 0;
  for (const value of values) {
    at = writeVarint(bytes, at, value.length);
    bytes.set(value, at);
    at += value.length;
  }
  return bytes.subarray(0, at);
}

function varint(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(MAX_VARINT_BYTES);
  return bytes.subarray(0, writeVarint(bytes, 0, value));
}

function writeVarint(bytes: Buffer, at: number, value: number): number {
  let end = at;
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes[end++] = (rest & 0x7f) | 0x80;
  bytes[end++] = rest;
  return end;
}
