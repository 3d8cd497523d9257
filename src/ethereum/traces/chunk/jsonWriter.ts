/** Initial size of the buffer, enough for 30 typical traces. */
const INITIAL_BYTES = 32 * 1024;
/**
 * Maximum size of a buffer that is kept for the next response, because allocating costs more than writing. A larger
 * buffer is released.
 */
const KEPT_BYTES = 8 * 1024 * 1024;

/** Free bytes before the JSON text, in which the start of the JSON-RPC response is written without a copy. */
export const HEADROOM_BYTES = 256;
/** Free bytes after the JSON text, for the end of the JSON-RPC response. */
export const TAILROOM_BYTES = 16;

/** For each byte value, the ASCII codes of its two hex digits as a little-endian 16-bit number. */
const HEX_PAIRS = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, '0');
  return digits.charCodeAt(0) | (digits.charCodeAt(1) << 8);
});

const ZERO = 0x30;
const LOWER_X = 0x78;

/**
 * Writes JSON as ASCII bytes, without intermediate strings. Callers must call `reserve` first, because most writes do
 * not check the size of the buffer.
 */
export class JsonWriter {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #view = new DataView(this.#bytes.buffer);
  length = HEADROOM_BYTES;

  get capacityBytes(): number {
    return this.#bytes.length;
  }

  /** Number of bytes written since the last reset. */
  get textBytes(): number {
    return this.length - HEADROOM_BYTES;
  }

  get lastByte(): number {
    return this.#bytes[this.length - 1] ?? 0;
  }

  reset(): void {
    this.length = HEADROOM_BYTES;
    if (this.#bytes.length > KEPT_BYTES) this.#allocate(INITIAL_BYTES);
  }

  /** Returns a copy of the bytes written since the last reset. */
  copy(): Buffer {
    const copy = Buffer.allocUnsafeSlow(this.textBytes);
    copy.set(this.#bytes.subarray(HEADROOM_BYTES, this.length));
    return copy;
  }

  reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.#bytes.length) return;
    const old = this.#bytes.subarray(0, this.length);
    this.#allocate(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.set(old);
  }

  /** Writes constant text that `ascii` returned. */
  constant(text: Uint8Array): void {
    const bytes = this.#bytes;
    let at = this.length;
    for (let i = 0; i < text.length; i++) bytes[at++] = text[i] ?? 0;
    this.length = at;
  }

  /** Writes `0x` and the hex digits of source[start..end). */
  hex(source: Uint8Array, start: number, end: number): void {
    const view = this.#view;
    let at = this.length;
    this.#bytes[at++] = ZERO;
    this.#bytes[at++] = LOWER_X;
    for (let i = start; i < end; i++) {
      view.setUint16(at, HEX_PAIRS[source[i] ?? 0] ?? 0, true);
      at += 2;
    }
    this.length = at;
  }

  /** Writes the big-endian number source[start..end), without leading zero bytes, as a JSON-RPC quantity. */
  quantity(source: Uint8Array, start: number, end: number): void {
    const bytes = this.#bytes;
    const first = start === end ? 0 : (source[start] ?? 0);
    if (first >= 0x10) return this.hex(source, start, end);
    bytes[this.length++] = ZERO;
    bytes[this.length++] = LOWER_X;
    bytes[this.length++] = (HEX_PAIRS[first] ?? 0) >>> 8;
    let at = this.length;
    for (let i = start + 1; i < end; i++) {
      this.#view.setUint16(at, HEX_PAIRS[source[i] ?? 0] ?? 0, true);
      at += 2;
    }
    this.length = at;
  }

  /** Writes an integer from 0 to 2^53 in decimal. */
  decimal(value: number): void {
    let digits = 1;
    for (let limit = 10; value >= limit; limit *= 10) digits++;
    let rest = value;
    for (let at = this.length + digits - 1; at >= this.length; at--) {
      const tenth = Math.floor(rest / 10);
      this.#bytes[at] = ZERO + rest - 10 * tenth;
      rest = tenth;
    }
    this.length += digits;
  }

  /**
   * Returns the text since the last reset without a copy. It is valid until the next write. The sender of a response
   * may use the HEADROOM_BYTES before the text and the TAILROOM_BYTES after it.
   */
  written(): Buffer {
    this.reserve(TAILROOM_BYTES);
    return Buffer.from(this.#bytes.buffer, HEADROOM_BYTES, this.textBytes);
  }

  /** Writes the bytes source[start..end) unchanged. No call of `reserve` is needed. */
  verbatim(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start);
    this.#bytes.set(source.subarray(start, end), this.length);
    this.length += end - start;
  }

  #allocate(bytes: number): void {
    this.#bytes = new Uint8Array(bytes);
    this.#view = new DataView(this.#bytes.buffer);
  }
}

/** Converts constant ASCII text to bytes for `JsonWriter.constant`. */
export const ascii = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
