/** Rows to insert, as pieces of ClickHouse's format Native. */
export interface Rows {
  readonly count: number;
  readonly pieces: readonly Uint8Array[];
}

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

/** The values of a column of type String. */
export const strings = (values: readonly Uint8Array[]): Buffer =>
  Buffer.concat(values.flatMap((value) => [varint(value.length), value]));

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
