import type { Socket } from 'node:net';

/** A client that stays slower than this is disconnected: it would keep 10 MB in memory for three hours. */
const MIN_BYTES_PER_MS = 1024 / 1_000;
/** A client slower than this is disconnected if the memory of its responses is needed. */
const SLOW_BYTES_PER_MS = (64 * 1024) / 1_000;
/** Rates cover 2 to 4 s, because the operating system accepts bytes in steps of up to a third of its send buffer. */
const WINDOW_MS = 2_000;

/** Measures how fast a client receives pending bytes, by the bytes that the operating system accepted for it. */
export class Pace {
  readonly #sendTimeoutMs: number;
  #patienceMs: number;
  #sentBytes: number;
  #windowMs = 0;
  #windowBytes = 0;

  constructor(sendTimeoutMs: number, sentBytes: number) {
    this.#sendTimeoutMs = sendTimeoutMs;
    this.#patienceMs = sendTimeoutMs;
    this.#sentBytes = sentBytes;
  }

  passed(elapsedMs: number, sentBytes: number): void {
    const bytes = sentBytes - this.#sentBytes;
    this.#sentBytes = sentBytes;
    const patienceMs = this.#patienceMs - elapsedMs + bytes / MIN_BYTES_PER_MS;
    this.#patienceMs = Math.min(this.#sendTimeoutMs, patienceMs);
    if (this.#windowMs >= 2 * WINDOW_MS) {
      this.#windowMs = WINDOW_MS;
      // The counted bytes are bounded, so that a fast client that stops reading counts as slow within seven seconds.
      this.#windowBytes = Math.min(this.#windowBytes / 2, 2 * SLOW_BYTES_PER_MS * WINDOW_MS);
    }
    this.#windowMs += elapsedMs;
    this.#windowBytes += bytes;
  }

  /** Whether the client received nothing for `sendTimeoutMs`, or almost nothing for a longer time. */
  get isStalled(): boolean {
    return this.#patienceMs <= 0;
  }

  get isSlow(): boolean {
    return this.#windowMs >= WINDOW_MS && this.#windowBytes < SLOW_BYTES_PER_MS * this.#windowMs;
  }
}

/**
 * Returns the number of bytes that the operating system accepted from a socket. `writableLength` changes only when a
 * whole write is complete.
 */
export function sentBytesOf(socket: Socket): number {
  // These properties are not documented; node's own timeouts use them.
  const { _bytesDispatched: dispatched, _handle: handle } = socket as Socket & {
    readonly _bytesDispatched?: number;
    readonly _handle?: { readonly writeQueueSize?: number } | null;
  };
  if (dispatched === undefined || handle?.writeQueueSize === undefined)
    return socket.bytesWritten - socket.writableLength;
  return dispatched - handle.writeQueueSize;
}
