/** So often what failed is told: a packet that finds a fault comes a thousand times a second. */
const TELL_EVERY_MS = 60_000;

/**
 * Keeps what is thrown while a packet is handled from ending the process, or its thread: a fault of ours costs that packet
 * and nothing else. Nothing is known to throw; this is for what is not known.
 */
export class PacketFaults {
  count = 0;
  readonly #onFault: (fault: string) => void;
  #toldMs = Number.NEGATIVE_INFINITY;

  /** `onFault` hears of one fault a minute at most, with the place where it was thrown. */
  constructor(onFault: (fault: string) => void) {
    this.#onFault = onFault;
  }

  note(error: unknown, nowMs: number): void {
    this.count++;
    if (nowMs - this.#toldMs < TELL_EVERY_MS) return;
    this.#toldMs = nowMs;
    this.#onFault(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}
