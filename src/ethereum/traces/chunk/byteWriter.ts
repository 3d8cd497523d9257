/** Initial size of the buffer. The size is doubled when a block needs more. */
const INITIAL_BYTES = 64 * 1024;

/** Maximum size of a buffer that is kept for the next block. A reset replaces a larger buffer by a small one. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** Maximum length of hex strings that are decoded in JavaScript, which is faster than a native call for them. */
const MAX_DIGITS_HERE = 160;

const DIGIT_VALUES = Uint8Array.from(
  { length: 128 },
  (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0,
);

/** Writes the bytes of a `0x` string of even length at `offset`. Returns the offset after the last written byte. */
export function writeHex(bytes: Buffer, offset: number, text: string): number {
  const end = offset + (text.length - 2) / 2;
  if (text.length > MAX_DIGITS_HERE) {
    bytes.write(text.slice(2), offset, end - offset, 'hex');
    return end;
  }
  let digit = 2;
  for (let at = offset; at < end; at++, digit += 2)
    bytes[at] =
      ((DIGIT_VALUES[text.charCodeAt(digit)] ?? 0) << 4) | (DIGIT_VALUES[text.charCodeAt(digit + 1)] ?? 0);
  return end;
}

/** Writes binary fields into a buffer that is reused for the next block. */
export class ByteWriter {
  #buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  reset(): void {
    this.#length = 0;
    if (this.#buffer.length > MAX_KEPT_BYTES) this.#buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  }

  /** Returns a copy of the bytes since the last reset. */
  copy(): Uint8Array {
    const copy = new Uint8Array(this.#length);
    copy.set(this.#buffer.subarray(0, this.#length));
    return copy;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  uint32(value: number): void {
    this.#reserve(4);
    this.#length = this.#buffer.writeUInt32LE(value, this.#length);
  }

  /** Overwrites the four bytes at `offset`, which counts from the first byte after the last reset. */
  uint32At(offset: number, value: number): void {
    this.#buffer.writeUInt32LE(value, offset);
  }

  skip(bytes: number): void {
    this.#reserve(bytes);
    this.#length += bytes;
  }

  /** Writes an unsigned integer below 2^53 as LEB128. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest > 0x7f) {
      this.#buffer[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#length++] = rest;
  }

  /** Writes the bytes of a `0x` string of even length, without a length prefix. */
  hex(text: string): void {
    this.#reserve((text.length - 2) / 2);
    this.#length = writeHex(this.#buffer, this.#length, text);
  }

  /** Writes the bytes of a `0x` string of even length, with a length prefix. */
  data(text: string): void {
    this.varint((text.length - 2) / 2);
    this.hex(text);
  }

  /** Writes the bytes of a `0x` quantity with a length prefix. The number of digits may be odd; zero has no bytes. */
  quantity(text: string): void {
    if (text === '0x0') return this.byte(0);
    if (text.length % 2 === 0) return this.data(text);
    const bytes = (text.length - 1) / 2;
    this.varint(bytes);
    this.byte(DIGIT_VALUES[text.charCodeAt(2)] ?? 0);
    this.#reserve(bytes - 1);
    for (let digit = 3; digit < text.length; digit += 2)
      this.#buffer[this.#length++] =
        ((DIGIT_VALUES[text.charCodeAt(digit)] ?? 0) << 4) | (DIGIT_VALUES[text.charCodeAt(digit + 1)] ?? 0);
  }

  text(value: string): void {
    const bytes = Buffer.byteLength(value);
    this.varint(bytes);
    this.#reserve(bytes);
    this.#length += this.#buffer.write(value, this.#length, bytes);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
