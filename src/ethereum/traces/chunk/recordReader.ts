import { CHUNK_HEAD_BYTES, HAS_SHARED, TRANSACTION_BYTES } from './format.ts';

/** Functions that locate and decode the records of a chunk. format.ts describes the format. */

export const tracesIn = (chunk: Uint8Array): number => chunk[0] ?? 0;

export const recordStart = (chunk: Uint8Array, index: number): number =>
  uint32(chunk, CHUNK_HEAD_BYTES + TRANSACTION_BYTES * (chunk[1] ?? 0) + 4 * index);

export function recordBounds(chunk: Uint8Array, index: number): [start: number, end: number] {
  const isLast = index + 1 === tracesIn(chunk);
  return [recordStart(chunk, index), isLast ? chunk.length : recordStart(chunk, index + 1)];
}

export interface Span {
  start: number;
  end: number;
}

/** `RecordReader.payload` returns this if the input or output is in the record itself, not in a data chunk. */
export const IN_RECORD = -1;

/** Reads the fields of one record in order. Each file reuses one instance, so that a read allocates nothing. */
export class RecordReader {
  bytes: Uint8Array = new Uint8Array();
  at = 0;

  byte(): number {
    return this.bytes[this.at++] ?? 0;
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  /** Reads a byte string with a length prefix, and sets `span` to the offsets of its bytes. */
  data(span: Span): void {
    const length = this.varint();
    span.start = this.at;
    this.at += length;
    span.end = this.at;
  }

  /** Sets `span` to an input or output and returns IN_RECORD, or empties `span` and returns a data chunk's number. */
  payload(span: Span, kind: number): number {
    const word = this.varint();
    const isShared = (kind & HAS_SHARED) !== 0 && word % 2 === 1;
    this.fixed(span, isShared ? 0 : (kind & HAS_SHARED) === 0 ? word : word / 2);
    return isShared ? (word - 1) / 2 : IN_RECORD;
  }

  fixed(span: Span, length: number): void {
    span.start = this.at;
    this.at += length;
    span.end = this.at;
  }
}

export function uint32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] ?? 0) |
      ((bytes[at + 1] ?? 0) << 8) |
      ((bytes[at + 2] ?? 0) << 16) |
      ((bytes[at + 3] ?? 0) << 24)) >>>
    0
  );
}
