import { writeHex } from '../../../traces/index.ts';

const INITIAL_BYTES = 4 * 1024;
const UINT256_BYTES = 32;

/** Encodes rows in RowBinary format. */
export class RowWriter {
  #bytes: Buffer;
  #at = 0;

  /** `expectedBytes` avoids copies; more bytes can be written. */
  constructor(expectedBytes = INITIAL_BYTES) {
    this.#bytes = Buffer.alloc(expectedBytes);
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  uint8(value: number): this {
    this.#at = this.#reserve(1).writeUInt8(value, this.#at);
    return this;
  }

  uint16(value: number): this {
    this.#at = this.#reserve(2).writeUInt16LE(value, this.#at);
    return this;
  }

  uint32(value: number): this {
    this.#at = this.#reserve(4).writeUInt32LE(value, this.#at);
    return this;
  }

  uint64(value: bigint): this {
    this.#at = this.#reserve(8).writeBigUInt64LE(value, this.#at);
    return this;
  }

  uint256(bigEndian: Uint8Array): this {
    const bytes = this.#reserve(UINT256_BYTES);
    for (let i = bigEndian.length - 1, at = this.#at; i >= 0; ) bytes[at++] = bigEndian[i--] ?? 0;
    this.#at += UINT256_BYTES;
    return this;
  }

  /** Writes a value of type FixedString. */
  fixed(value: Uint8Array): this {
    this.#reserve(value.length).set(value, this.#at);
    this.#at += value.length;
    return this;
  }

  /** Writes a value of type FixedString from `0x` and hex digits. */
  hex(value: string): this {
    this.#at = writeHex(this.#reserve(value.length / 2), this.#at, value);
    return this;
  }

  /** Writes the length of a String or an Array, which comes before its content. */
  length(value: number): this {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.uint8((rest & 0x7f) | 0x80);
    return this.uint8(rest);
  }

  /** Returns the buffer, with space for more bytes, which are 0. */
  #reserve(bytes: number): Buffer {
    if (this.#at + bytes > this.#bytes.length) {
      const larger = Buffer.alloc(2 * (this.#at + bytes));
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    return this.#bytes;
  }
}
