/** A client that takes fewer bytes than this for long is cut: at this pace 10 MB would be held for three hours. */
const MIN_BYTES_PER_SECOND = 1024;
/** Where others want what it holds, a client that takes fewer bytes than this is too slow. */
const SLOW_BYTES_PER_SECOND = 64 * 1024;
/** The pace is that of the last one to two windows: the system takes bytes in steps of up to a third of its buffer. */
const WINDOW_MS = 3_000;
/** And who has taken nothing for this long is too slow whatever it took before. */
const SLOW_AFTER_MS = 2_000;
const MS_PER_SECOND = 1_000;

/**
 * How fast a client takes what waits for it. Time is that in which it could: of a turn of the event loop in which nothing
 * was sent the caller counts no more than it usually takes.
 */
export class Pace {
  readonly #sendTimeoutMs: number;
  #patienceMs: number;
  #takenBytes: number;
  #waitedMs = 0;
  #idleMs = 0;
  /** Where the current window and the one before it began. */
  #window: Mark;
  #before: Mark;

  constructor(sendTimeoutMs: number, takenBytes: number) {
    this.#sendTimeoutMs = sendTimeoutMs;
    this.#patienceMs = sendTimeoutMs;
    this.#takenBytes = takenBytes;
    this.#window = { atMs: 0, bytes: takenBytes };
    this.#before = this.#window;
  }

  /** Time has passed, and the client has taken so many bytes since its connection was made. */
  passed(elapsedMs: number, takenBytes: number): void {
    const earnedMs = (MS_PER_SECOND * (takenBytes - this.#takenBytes)) / MIN_BYTES_PER_SECOND;
    this.#patienceMs = Math.min(this.#sendTimeoutMs, this.#patienceMs - elapsedMs + earnedMs);
    this.#idleMs = takenBytes === this.#takenBytes ? this.#idleMs + elapsedMs : 0;
    this.#takenBytes = takenBytes;
    this.#waitedMs += elapsedMs;
    if (this.#waitedMs - this.#window.atMs < WINDOW_MS) return;
    this.#before = this.#window;
    this.#window = { atMs: this.#waitedMs, bytes: takenBytes };
  }

  /** It has taken nothing for the whole time that it has, or next to nothing for longer. */
  get isStalled(): boolean {
    return this.#patienceMs <= 0;
  }

  /** Whether it may be cut for others. */
  get isSlow(): boolean {
    if (this.#idleMs >= SLOW_AFTER_MS) return true;
    const elapsedMs = this.#waitedMs - this.#before.atMs;
    const bytes = this.#takenBytes - this.#before.bytes;
    return elapsedMs >= WINDOW_MS && bytes < (SLOW_BYTES_PER_SECOND * elapsedMs) / MS_PER_SECOND;
  }
}

interface Mark {
  readonly atMs: number;
  readonly bytes: number;
}
