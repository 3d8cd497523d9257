/** Cuts a stream of DNS over TCP (RFC 1035, 4.2.2) into messages and shows the head of each, in a fixed memory. */

/** The header, the longest question, and the name of the first record behind it with its type. */
const HEAD_BYTES = 640;
const LENGTH_BYTES = 2;

export class AnswerHeads {
  readonly #onHead: (head: Uint8Array) => void;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #filled = 0;
  /** Bytes of the message that have not come yet. */
  #left = 0;
  #length = 0;
  #lengthBytes = 0;

  /** `onHead` gets the first 640 bytes of each whole message, or all of a shorter one; they hold until it returns. */
  constructor(onHead: (head: Uint8Array) => void) {
    this.#onHead = onHead;
  }

  /** Whether a message has begun and not ended. */
  get isInside(): boolean {
    return this.#lengthBytes > 0;
  }

  /** Returns where in the chunk the last message that ends in it ends, 0 where none does. */
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
