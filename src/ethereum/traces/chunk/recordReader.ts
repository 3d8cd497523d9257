import { CHUNK_HEAD_BYTES, TRANSACTION_BYTES } from './format.ts';

/** How the parts of a chunk are found and read. Format: format.ts. */

/** How many traces a chunk holds. */
export const tracesIn = (chunk: Uint8Array): number => chunk[0] ?? 0;

/** Where record `index` of a chunk starts. */
export const recordStart = (chunk: Uint8Array, index: number): number =>
  uint32(chunk, CHUNK_HEAD_BYTES + TRANSACTION_BYTES * (chunk[1] ?? 0) + 4 * index);

/** Where it starts and ends. */
export function recordBounds(chunk: Uint8Array, index: number): [start: number, end: number] {
  const isLast = index + 1 === tracesIn(chunk);
  return [recordStart(chunk, index), isLast ? chunk.length : recordStart(chunk, index + 1)];
}

/** A byte string in a chunk: where it starts and ends. */
export interface Span {
  start: number;
  end: number;
}

/** Reads one record, front to back. One instance serves a module: reading a trace allocates nothing. */
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

  /** Sets `span` to the byte string that stands here, after its length. */
  data(span: Span): void {
    const length = this.varint();
    span.start = this.at;
    this.at += length;
    span.end = this.at;
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
