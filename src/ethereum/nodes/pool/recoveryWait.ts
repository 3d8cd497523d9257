/** Interval at which unhealthy nodes are polled while requests wait for one to recover. */
const POLL_MS = 200;
/** Maximum number of waiting requests, and of bytes in their bodies, because these are kept in memory. */
const MAX_WAITING = 1_024;
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** Requests that wait for a node to recover while all nodes are unhealthy. */
export class RecoveryWait {
  readonly #waitMs: number;
  readonly #poll: () => void;
  readonly #waiting = new Set<(isBack: boolean) => void>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(waitMs: number, poll: () => void) {
    this.#waitMs = waitMs;
    this.#poll = poll;
  }

  /** Resolves with true if a node recovers in time, otherwise with false. Does not wait if too many requests do. */
  waitForRecovery(maxMs: number, bytes: number): Promise<boolean> {
    const waitMs = Math.min(this.#waitMs, maxMs);
    const isFull = this.#waiting.size >= MAX_WAITING || this.#bytes + bytes > MAX_WAITING_BYTES;
    if (waitMs <= 0 || isFull) return Promise.resolve(false);
    return new Promise((resolve) => {
      const over = (isBack: boolean): void => {
        clearTimeout(timeout);
        this.#waiting.delete(over);
        this.#bytes -= bytes;
        if (this.#waiting.size === 0) this.stop();
        resolve(isBack);
      };
      const timeout = setTimeout(() => over(false), waitMs);
      this.#waiting.add(over);
      this.#bytes += bytes;
      if (this.#timer !== undefined) return;
      this.#poll();
      this.#timer = setInterval(this.#poll, POLL_MS);
    });
  }

  nodeRecovered(): void {
    for (const over of [...this.#waiting]) over(true);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
