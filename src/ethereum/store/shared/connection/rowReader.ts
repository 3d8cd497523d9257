import { TraceStoreUnavailable } from './failures.ts';

/**
 * Decodes one row in RowBinary format. Throws TraceStoreUnavailable if the row is too short or too long, because a
 * response was truncated.
 */
export class RowReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  uint8(): number {
    return this.#bytes[this.#take(1)] ?? 0;
  }

  uint16(): number {
    return this.#bytes.readUInt16LE(this.#take(2));
  }

  uint32(): number {
    return this.#bytes.readUInt32LE(this.#take(4));
  }

  uint64(): number {
    return Number(this.bigUint64());
  }

  bigUint64(): bigint {
    return this.#bytes.readBigUInt64LE(this.#take(8));
  }

  /** Returns a value of type FixedString. */
  fixed(length: number): Buffer {
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  bytes(): Buffer {
    return this.fixed(this.#varint());
  }

  array<T>(read: () => T): T[] {
    const length = this.#varint();
    // Each element has at least one byte. An error message would decode to a huge length, which is rejected here.
    if (length > this.#bytes.length - this.#at)
      throw new TraceStoreUnavailable('ClickHouse: the response is truncated');
    return Array.from({ length }, read);
  }

  /** Throws TraceStoreUnavailable if bytes are left after the row. */
  end(): void {
    if (this.#at !== this.#bytes.length)
      throw new TraceStoreUnavailable('ClickHouse: the response has extra bytes after the row');
  }

  #varint(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 35; factor *= 0x80) {
      const byte = this.uint8();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new TraceStoreUnavailable('ClickHouse: the response has an invalid length');
  }

  #take(bytes: number): number {
    const at = this.#at;
    if (at + bytes > this.#bytes.length)
      throw new TraceStoreUnavailable('ClickHouse: the response is truncated');
    this.#at = at + bytes;
    return at;
  }
}
