const UINT256_BYTES = 32;

/** Encodes rows in RowBinary format. */
export class RowWriter {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at = 0;

  /** `maxBytes` is an upper bound of the size of all rows. */
  constructor(maxBytes: number) {
    this.#bytes = Buffer.alloc(maxBytes);
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, maxBytes);
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  uint8(value: number): this {
    this.#view.setUint8(this.#at, value);
    this.#at += 1;
    return this;
  }

  uint16(value: number): this {
    this.#view.setUint16(this.#at, value, true);
    this.#at += 2;
    return this;
  }

  uint32(value: number): this {
    this.#view.setUint32(this.#at, value, true);
    this.#at += 4;
    return this;
  }

  uint64(value: bigint): this {
    this.#view.setBigUint64(this.#at, value, true);
    this.#at += 8;
    return this;
  }

  uint256(bigEndian: Uint8Array): this {
    for (let i = bigEndian.length - 1, at = this.#at; i >= 0; ) this.#bytes[at++] = bigEndian[i--] ?? 0;
    this.#at += UINT256_BYTES;
    return this;
  }

  /** Writes a value of type FixedString. */
  fixed(value: Uint8Array): this {
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
    return this;
  }

  /** Writes a value of type FixedString from `0x` and hex digits. For so few digits, `Buffer.write` takes longer. */
  hex(value: string): this {
    let at = this.#at;
    for (let i = 2; i < value.length; i += 2)
      this.#bytes[at++] = (digitIn(value.charCodeAt(i)) << 4) | digitIn(value.charCodeAt(i + 1));
    this.#at = at;
    return this;
  }

  /** Writes the length of a String or an Array, which comes before its content. */
  length(value: number): this {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.uint8((rest & 0x7f) | 0x80);
    return this.uint8(rest);
  }
}

/** Maximum size of an encoded length below 2^32. */
export const MAX_LENGTH_BYTES = 5;

const digitIn = (character: number): number => (character & 15) + 9 * (character >> 6);
