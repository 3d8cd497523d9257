/** Bytes to start with: an answer of 30 ordinary traces fits. One that had to grow stays so large, as new memory costs more than what is written to it. */
const INITIAL_BYTES = 32 * 1024;
/** A larger buffer is given back after the answer that needed it. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** Free bytes before the text: what stands before a result in its answer is written there, and nothing is copied. */
export const ROOM_BEFORE_BYTES = 256;
/** Free bytes behind the text, for what closes the answer. */
export const ROOM_BEHIND_BYTES = 16;

/** `00` to `ff`, each as the two ASCII digits in one little-endian 16-bit number. */
const HEX_PAIRS = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, '0');
  return digits.charCodeAt(0) | (digits.charCodeAt(1) << 8);
});

const ZERO = 0x30;
const LOWER_X = 0x78;

/**
 * Writes JSON text as ASCII bytes into one buffer, with no string in between: hex digits come from a table two at a
 * time, constant text is copied. Callers reserve room first and may then write that many bytes unchecked.
 */
export class JsonWriter {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #view = new DataView(this.#bytes.buffer);
  /** Where the next byte goes. */
  length = ROOM_BEFORE_BYTES;

  /** Bytes of memory that it holds. */
  get heldBytes(): number {
    return this.#bytes.length;
  }

  /** Bytes of text. */
  get textBytes(): number {
    return this.length - ROOM_BEFORE_BYTES;
  }

  /** What was written last. */
  get lastByte(): number {
    return this.#bytes[this.length - 1] ?? 0;
  }

  reset(): void {
    this.length = ROOM_BEFORE_BYTES;
    if (this.#bytes.length > KEPT_BYTES) this.#allocate(INITIAL_BYTES);
  }

  /** A copy of what was written since the last reset. */
  copy(): Buffer {
    const copy = Buffer.allocUnsafeSlow(this.textBytes);
    copy.set(this.#bytes.subarray(ROOM_BEFORE_BYTES, this.length));
    return copy;
  }

  /** Makes room for `bytes` more. */
  reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.#bytes.length) return;
    const old = this.#bytes.subarray(0, this.length);
    this.#allocate(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.set(old);
  }

  /** ASCII text prepared by `ascii`. */
  constant(text: Uint8Array): void {
    const bytes = this.#bytes;
    let at = this.length;
    for (let i = 0; i < text.length; i++) bytes[at++] = text[i] ?? 0;
    this.length = at;
  }

  /** `0x` and the digits of source[start..end). */
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

  /** A big-endian number without leading zero bytes, as `0x` and digits without a leading zero. */
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

  /** A whole number from 0 to 2^53 in decimal digits. */
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
   * What was written since the last reset, in place: good until anything more is written. Before it in the same memory there
   * are ROOM_BEFORE_BYTES, behind it ROOM_BEHIND_BYTES for whoever sends it.
   */
  written(): Buffer {
    this.reserve(ROOM_BEHIND_BYTES);
    return Buffer.from(this.#bytes.buffer, ROOM_BEFORE_BYTES, this.textBytes);
  }

  /** source[start..end) as it is. Makes room for itself. */
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

/** Constant text for JsonWriter.constant. */
export const ascii = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
