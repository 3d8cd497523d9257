/** Minimum time between two calls of `onFault`, because thousands of packets per second may cause an exception. */
const TELL_EVERY_MS = 60_000;

/** Counts exceptions caught while a packet was handled, so that a bug costs one packet and not the process. */
export class PacketFaults {
  count = 0;
  readonly #onFault: (fault: string) => void;
  #reportedMs = Number.NEGATIVE_INFINITY;

  /** `onFault` receives at most one exception per minute, as text with its stack trace. */
  constructor(onFault: (fault: string) => void) {
    this.#onFault = onFault;
  }

  note(error: unknown, nowMs: number): void {
    this.count++;
    if (Math.abs(nowMs - this.#reportedMs) < TELL_EVERY_MS) return;
    this.#reportedMs = nowMs;
    this.#onFault(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}
