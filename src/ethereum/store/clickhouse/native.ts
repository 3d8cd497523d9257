/** Rows to insert, as pieces of ClickHouse's format Native. */
export interface Rows {
  readonly count: number;
  readonly pieces: readonly Uint8Array[];
}

/** Of what is below 2^32. */
const MAX_VARINT_BYTES = 5;

/** Name and type of a column, and the values of all rows: little end first, as typed arrays have them on what Node.js is to be had for. */
type Column = readonly [name: string, type: string, values: ArrayBufferView];

/** Rows as Native has them: each column in one piece, which neither side goes over value by value. */
export function nativeRows(count: number, columns: readonly Column[]): Rows {
  const size = Buffer.concat([varint(columns.length), varint(count)]);
  const pieces = columns.flatMap(([name, type, { buffer, byteOffset, byteLength }]) => [
    strings([Buffer.from(name), Buffer.from(type)]),
    new Uint8Array(buffer, byteOffset, byteLength),
  ]);
  return { count, pieces: [size, ...pieces] };
}

/** The values of a column of type String: each behind its length. */
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

/** Gives where it ends. */
function writeVarint(bytes: Buffer, at: number, value: number): number {
  let end = at;
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes[end++] = (rest & 0x7f) | 0x80;
  bytes[end++] = rest;
  return end;
}
