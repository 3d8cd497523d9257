const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const SPACE = 0x20;

/** Finds the end of a JSON value that arrives in pieces. Tracks only brackets and strings, and does not validate. */
export class ResultSpan {
  #depth = 0;
  #inString = false;
  #escaped = false;

  /** Scans the next piece. Returns the offset in this piece at which the value ends; undefined if it goes on. */
  feed(piece: Uint8Array): number | undefined {
    for (let i = 0; i < piece.length; i++) {
      const byte = piece[i];
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
      } else if (byte === QUOTE) this.#inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (this.#depth === 0) return i;
        this.#depth--;
      } else if (byte === COMMA && this.#depth === 0) return i;
    }
    return undefined;
  }

  /** Returns the offset of the value of the top-level member `result`; undefined if these bytes do not contain it. */
  static find(bytes: Uint8Array): number | undefined {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = skipSpace(bytes, 0);
    if (bytes[at] !== OPEN_BRACE) return undefined;
    for (at = skipSpace(bytes, at + 1); bytes[at] === QUOTE; ) {
      const nameEnd = text.indexOf(QUOTE, at + 1);
      if (nameEnd === -1) return undefined;
      const name = text.toString('latin1', at + 1, nameEnd);
      const value = skipSpace(bytes, skipSpace(bytes, nameEnd + 1) + 1);
      if (name === 'result') return value;
      const length = new ResultSpan().feed(bytes.subarray(value));
      if (length === undefined) return undefined;
      at = skipSpace(bytes, value + length + 1);
    }
    return undefined;
  }
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] ?? 0) <= SPACE) at++;
  return at;
}
