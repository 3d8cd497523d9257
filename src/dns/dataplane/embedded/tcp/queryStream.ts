/** Splits the TCP stream of a client into messages (RFC 1035, 4.2.2). Memory is bounded by the maximum query size. */
import { HEADER_BYTES, MAX_QUERY_BYTES } from '../../../protocol/index.ts';

const LENGTH_BYTES = 2;

/**
 * Receives each message with its length prefix. An oversized message is cut to its header; `length` is then still the
 * length of the whole message.
 */
export type OnMessage = (framed: Buffer, length: number) => void;

export class QueryStream {
  readonly #onMessage: OnMessage;
  #pending: Buffer = Buffer.alloc(0);
  /** Bytes of an oversized message that must still be skipped. */
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
    // The rest is copied, because a view would keep the whole received chunk in memory.
    this.#pending = rest.length === 0 ? EMPTY : Buffer.from(rest);
  }
}

const EMPTY = Buffer.alloc(0);
