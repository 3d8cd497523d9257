/** While somebody waits, nodes that are away are polled this often. */
const POLL_MS = 200;
/** Requests that wait at most, and bytes of them: what waits is held in memory. */
const MAX_WAITING = 1_024;
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** Requests that wait for a node to come back, where all are away for a moment. */
export class NodeWait {
  readonly #waitMs: number;
  /** Asks the nodes that are away whether they are back. */
  readonly #poll: () => void;
  readonly #waiting = new Set<(isBack: boolean) => void>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(waitMs: number, poll: () => void) {
    this.#waitMs = waitMs;
    this.#poll = poll;
  }

  /** Resolves with whether a node comes back within the time; at once where too many wait. */
  comesBack(maxMs: number, bytes: number): Promise<boolean> {
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

  nodeIsBack(): void {
    for (const over of [...this.#waiting]) over(true);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
