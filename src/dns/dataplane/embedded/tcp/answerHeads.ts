/** Splits the TCP stream of a DNS server (RFC 1035, 4.2.2) into messages. Keeps only the first bytes of each. */

/** Number of bytes kept per message: enough for header, longest question, and owner and type of the first record. */
const HEAD_BYTES = 640;
const LENGTH_BYTES = 2;

export class AnswerHeads {
  readonly #onHead: (head: Uint8Array) => void;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #filled = 0;
  #left = 0;
  #length = 0;
  #lengthBytes = 0;

  /** Calls `onHead` with the first 640 bytes of each complete message. Their buffer is reused after the call. */
  constructor(onHead: (head: Uint8Array) => void) {
    this.#onHead = onHead;
  }

  get isMidMessage(): boolean {
    return this.#lengthBytes > 0;
  }

  /** Returns the offset in the chunk after the last message that ends in it, or 0 if no message ends in it. */
  push(chunk: Uint8Array): number {
    let lastEnd = 0;
    for (let at = 0; at < chunk.length; ) {
      if (this.#lengthBytes < LENGTH_BYTES) {
        this.#length = (this.#length << 8) | (chunk[at++] ?? 0);
        if (++this.#lengthBytes === LENGTH_BYTES) this.#left = this.#length;
      } else {
        const end = Math.min(chunk.length, at + this.#left);
        const kept = chunk.subarray(at, Math.min(end, at + HEAD_BYTES - this.#filled));
        this.#head.set(kept, this.#filled);
        this.#filled += kept.length;
        this.#left -= end - at;
        at = end;
      }
      if (this.#lengthBytes === LENGTH_BYTES && this.#left === 0) {
        this.#finish();
        lastEnd = at;
      }
    }
    return lastEnd;
  }

  #finish(): void {
    this.#onHead(this.#head.subarray(0, this.#filled));
    this.#filled = 0;
    this.#length = 0;
    this.#lengthBytes = 0;
  }
}
