import { createHash } from 'node:crypto';
import { isShared, MIN_SHARED_CHARS } from '../../traces/index.ts';
import { OversizedBlockError } from './oversizedBlockError.ts';

/** Maximum length of a short string. These are interned: addresses, hashes and quantities repeat between frames. */
const MAX_SHORT_CHARS = 66;
const MAX_SHORT_TEXTS = 65_536;
/** Bytes that are charged for a string in addition to its characters. */
const TEXT_OVERHEAD_BYTES = 16;

interface LongText {
  readonly text: string;
  count: number;
}

/** Memory limit for the responses about one block. Interns strings, so that repeated strings share their memory. */
export class ResponseMemory {
  readonly #maxBytes: number;
  readonly #what: string;
  #bytes = 0;
  readonly #short = new Map<string, string>();
  /** Long strings by their hashes: to compare long strings that differ only at their ends would take too long. */
  readonly #long = new Map<string, LongText>();

  /** @param what the block and the node, for the error message. */
  constructor(maxBytes: number, what: string) {
    this.#maxBytes = maxBytes;
    this.#what = what;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts bytes as used. Throws OversizedBlockError if the limit is exceeded. */
  charge(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return;
    throw new OversizedBlockError(
      'index.maxBlockBytes',
      `${this.#what}: the traces need more than ${this.#maxBytes} bytes`,
    );
  }

  /** Returns ASCII bytes as a string. If an equal long or short string is known, returns that string. */
  text(bytes: Buffer): string {
    if (bytes.length >= MIN_SHARED_CHARS) return this.#longText(bytes);
    const text = bytes.toString('latin1');
    if (text.length > MAX_SHORT_CHARS) return this.#charged(text);
    const known = this.#short.get(text);
    if (known !== undefined) return known;
    if (this.#short.size < MAX_SHORT_TEXTS) this.#short.set(text, text);
    return this.#charged(text);
  }

  #longText(bytes: Buffer): string {
    const hash = createHash('sha256').update(bytes).digest('base64');
    const known = this.#long.get(hash);
    if (known === undefined) {
      const text = this.#charged(bytes.toString('latin1'));
      this.#long.set(hash, { text, count: 1 });
      return text;
    }
    // The index stores a string only once if it repeats often enough. Each repetition before that is charged.
    if (!isShared(bytes.length, ++known.count)) this.charge(bytes.length);
    return known.text;
  }

  #charged(text: string): string {
    this.charge(text.length + TEXT_OVERHEAD_BYTES);
    return text;
  }
}
