/** Splits a client's TCP stream into DNS messages (RFC 1035, 4.2.2). Buffers at most one query of maximum size. */
import { HEADER_BYTES, MAX_QUERY_BYTES } from '../../../protocol/index.ts';

const LENGTH_BYTES = 2;

/**
 * Receives each message with its length prefix. `length` is the length of the whole message without the prefix. A
 * message above the maximum query size is cut: `framed` then contains only the prefix and the DNS header.
 */
export type OnMessage = (framed: Buffer, length: number) => void;

export class QueryStream {
  readonly #onMessage: OnMessage;
  #pending: Buffer = Buffer.alloc(0);
  /** Number of bytes of an oversized message that have not arrived yet and will be skipped. */
  #skip = 0;

  constructor(onMessage: OnMessage) {
    this.#onMessage = onMessage;
  }

  get isMidMessage(): boolean {
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
    // The bytes of the incomplete message are copied, because a view of them would keep the whole chunk in memory.
    this.#pending = rest.length === 0 ? EMPTY : Buffer.from(rest);
  }
}

const EMPTY = Buffer.alloc(0);
