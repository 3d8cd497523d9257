import type { ResponseMemory } from './responseMemory.ts';

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const SPACES: ReadonlySet<number | undefined> = new Set([0x20, 0x0a, 0x0d, 0x09]);

/** Maximum nesting of values. A call tree has an object in an array per call, and calls are at most 1,025 deep. */
const MAX_DEPTH = 2_100;
/** Maximum length of a string: more than the hex digits of the longest accepted input or output, which has 16 MiB. */
const MAX_TEXT_BYTES = 34 * 1024 * 1024;
/** Maximum length of a number, `true`, `false` or `null`. */
const MAX_SCALAR_BYTES = 128;
const INITIAL_TEXT_BYTES = 64 * 1024;

/** Bytes that are charged for an object or array, and for each value. */
const CONTAINER_BYTES = 32;
const VALUE_BYTES = 8;

/** Classes of the bytes of a JSON string. */
const [PLAIN, END, ESCAPE, CONTROL, NOT_ASCII] = [0, 1, 2, 3, 4];
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === QUOTE) return END;
  if (byte === BACKSLASH) return ESCAPE;
  return byte < 0x20 ? CONTROL : byte < 0x80 ? PLAIN : NOT_ASCII;
});

/** JSON token that is expected next, outside of a string or scalar. */
type Expected = 'value' | 'value or ]' | 'key or }' | 'key' | ':' | ', or end' | 'nothing';

type Container = Record<string, unknown> | unknown[];

interface Open {
  readonly container: Container;
  /** Key of the member whose value is read next, if the container is an object. */
  key: string;
}

/**
 * Incremental JSON parser. Returns the value that JSON.parse would return, but repeated strings share their memory.
 * Throws SyntaxError for invalid JSON, and OversizedBlockError if the value exceeds the memory limit.
 */
export class JsonReader {
  readonly #kept: ResponseMemory;
  readonly #open: Open[] = [];
  #expected: Expected = 'value';
  #value: unknown;
  #inside: 'text' | 'scalar' | undefined;
  #isPlain = true;
  #isEscaped = false;
  /** Bytes of the current string or scalar that earlier pieces contained. */
  #text = Buffer.allocUnsafe(INITIAL_TEXT_BYTES);
  #textBytes = 0;

  constructor(kept: ResponseMemory) {
    this.#kept = kept;
  }

  write(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) {
      if (this.#inside === 'text') at = this.#readText(piece, at);
      else if (this.#inside === 'scalar') at = this.#readScalar(piece, at);
      else at = this.#readMark(piece, at);
    }
  }

  end(): unknown {
    if (this.#inside === 'scalar') this.#endScalar();
    if (this.#expected !== 'nothing' || this.#inside !== undefined)
      throw new SyntaxError('the JSON text ends early');
    return this.#value;
  }

  /** Parses one byte outside of a string or scalar. Returns the offset of the next byte to parse. */
  #readMark(piece: Buffer, at: number): number {
    const byte = piece[at];
    if (SPACES.has(byte)) return at + 1;
    switch (byte) {
      case QUOTE:
        if (!this.#expectsValue && !this.#expectsKey) throw this.#unexpected(byte);
        this.#inside = 'text';
        this.#isPlain = true;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#begin(byte);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#close(byte);
        break;
      case COLON:
        if (this.#expected !== ':') throw this.#unexpected(byte);
        this.#expected = 'value';
        break;
      case COMMA:
        if (this.#expected !== ', or end') throw this.#unexpected(byte);
        this.#expected = Array.isArray(this.#open.at(-1)?.container) ? 'value' : 'key';
        break;
      default:
        if (!this.#expectsValue) throw this.#unexpected(byte);
        this.#inside = 'scalar';
        return at;
    }
    return at + 1;
  }

  get #expectsValue(): boolean {
    return this.#expected === 'value' || this.#expected === 'value or ]';
  }

  get #expectsKey(): boolean {
    return this.#expected === 'key' || this.#expected === 'key or }';
  }

  #unexpected(byte: number | undefined): SyntaxError {
    return new SyntaxError(`unexpected byte ${byte}, expected ${this.#expected}`);
  }

  #begin(byte: number): void {
    if (!this.#expectsValue) throw this.#unexpected(byte);
    if (this.#open.length >= MAX_DEPTH)
      throw new SyntaxError(`values are nested more than ${MAX_DEPTH} deep`);
    this.#kept.charge(CONTAINER_BYTES);
    const container: Container = byte === OPEN_BRACE ? {} : [];
    this.#add(container);
    this.#open.push({ container, key: '' });
    this.#expected = byte === OPEN_BRACE ? 'key or }' : 'value or ]';
  }

  #close(byte: number): void {
    const isEmpty = this.#expected === (byte === CLOSE_BRACE ? 'key or }' : 'value or ]');
    const closes = Array.isArray(this.#open.at(-1)?.container) ? CLOSE_BRACKET : CLOSE_BRACE;
    if (!isEmpty && (this.#expected !== ', or end' || closes !== byte)) throw this.#unexpected(byte);
    this.#open.pop();
    this.#expected = this.#open.length === 0 ? 'nothing' : ', or end';
  }

  #add(value: unknown): void {
    this.#kept.charge(VALUE_BYTES);
    const open = this.#open.at(-1);
    if (open === undefined) this.#value = value;
    else if (Array.isArray(open.container)) open.container.push(value);
    else if (open.key === '__proto__') Object.defineProperty(open.container, open.key, { value, ...OWN });
    else open.container[open.key] = value;
    this.#expected = open === undefined ? 'nothing' : ', or end';
  }

  #readText(piece: Buffer, from: number): number {
    let at = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    for (; at < piece.length; at++) {
      const kind = KINDS[piece[at] ?? 0];
      if (kind === PLAIN) continue;
      if (kind === END) {
        this.#endText(piece.subarray(from, at));
        return at + 1;
      }
      if (kind === CONTROL) throw new SyntaxError('a control character in a string');
      this.#isPlain = false;
      if (kind === ESCAPE) this.#isEscaped = ++at === piece.length;
    }
    this.#hold(piece.subarray(from));
    return piece.length;
  }

  #endText(last: Buffer): void {
    const bytes = this.#held(last);
    this.#inside = undefined;
    const text = this.#isPlain ? this.#kept.text(bytes) : this.#decoded(bytes);
    const open = this.#open.at(-1);
    if (open === undefined || !this.#expectsKey) return this.#add(text);
    open.key = text;
    this.#expected = ':';
  }

  #decoded(bytes: Buffer): string {
    this.#kept.charge(bytes.length);
    return JSON.parse(`"${bytes.toString()}"`) as string; // the text has no unescaped quotes
  }

  #readScalar(piece: Buffer, from: number): number {
    let at = from;
    while (at < piece.length && !endsScalar(piece[at])) at++;
    this.#hold(piece.subarray(from, at));
    if (this.#textBytes > MAX_SCALAR_BYTES)
      throw new SyntaxError(`a number of more than ${MAX_SCALAR_BYTES} digits`);
    if (at < piece.length) this.#endScalar();
    return at;
  }

  #endScalar(): void {
    const text = this.#held(NO_BYTES).toString();
    this.#inside = undefined;
    this.#add(JSON.parse(text));
  }

  #hold(part: Buffer): void {
    const bytes = this.#textBytes + part.length;
    if (bytes > MAX_TEXT_BYTES) throw new SyntaxError(`a string of more than ${MAX_TEXT_BYTES} bytes`);
    if (bytes > this.#text.length) {
      const larger = Buffer.allocUnsafe(Math.max(bytes, 2 * this.#text.length));
      this.#text.copy(larger, 0, 0, this.#textBytes);
      this.#text = larger;
    }
    part.copy(this.#text, this.#textBytes);
    this.#textBytes = bytes;
  }

  /** Returns all bytes of the string or scalar that ends with `last`. The next call of `#hold` overwrites them. */
  #held(last: Buffer): Buffer {
    if (this.#textBytes === 0) return last;
    this.#hold(last);
    const bytes = this.#text.subarray(0, this.#textBytes);
    this.#textBytes = 0;
    return bytes;
  }
}

/** Attributes of an ordinary property, for a JSON member named `__proto__`, to which a value cannot be assigned. */
const OWN = { writable: true, enumerable: true, configurable: true } as const;
const NO_BYTES = Buffer.alloc(0);

const endsScalar = (byte: number | undefined): boolean =>
  byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE || SPACES.has(byte);
