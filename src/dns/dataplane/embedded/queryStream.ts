/** Cuts what a client sends over TCP into whole messages (RFC 1035, 4.2.2), in a memory no larger than one query. */
import { HEADER_BYTES, MAX_QUERY_BYTES } from '../../protocol/index.ts';

const LENGTH_BYTES = 2;

/**
 * Gets each message with its length in front, as it goes on to a server. Of one that is longer than any query only
 * `length` says how long it is: it has its header alone, and the rest is not kept.
 */
export type OnMessage = (framed: Buffer, length: number) => void;

export class QueryStream {
  readonly #onMessage: OnMessage;
  /** The part of a message that has come. */
  #pending: Buffer = Buffer.alloc(0);
  /** Bytes to come of a message that is too long. */
  #skip = 0;

  constructor(onMessage: OnMessage) {
    this.#onMessage = onMessage;
  }

  /** Whether a message has begun and not ended. */
  get isInside(): boolean {
    return this.#pending.length > 0 || this.#skip > 0;
  }

  push(chunk: Buffer): void {
    const skipped = Math.min(this.#skip, chunk.length);
    this.#skip -= skipped;
    let rest = skipped === 0 ? chunk : chunk.subarray(skipped);
    if (this.#pending.length > 0) rest = Buffer.concat([this.#pending, rest]);
    for (;;) {
      const length = rest.length < LENGTH_BYTES ? 0 : rest.readUInt16BE(0);
      const kept = length > MAX_QUERY_BYTES ? HEADER_BYTES : length;
      if (rest.length < LENGTH_BYTES + kept || rest.length < LENGTH_BYTES) break;
      this.#onMessage(rest.subarray(0, LENGTH_BYTES + kept), length);
      const end = LENGTH_BYTES + length;
      this.#skip = Math.max(0, end - rest.length);
      rest = rest.subarray(Math.min(end, rest.length));
    }
    // A copy, as a view would hold on to all of the chunk.
    this.#pending = rest.length === 0 ? EMPTY : Buffer.from(rest);
  }
}

const EMPTY = Buffer.alloc(0);
