/** Initial number of parallel block requests: enough to hide a node's latency, too few to overload the node. */
const START = 4;
/** Maximum number of parallel block requests. More requests would only wait at the node, and need memory here. */
const MOST = 32;

/** Limit of parallel block requests. It grows slowly while requests succeed, and halves after a failure (AIMD). */
export class AdaptiveConcurrency {
  readonly #most: number;
  #limit: number;
  #answersSinceChange = 0;

  constructor(start = START, most = MOST) {
    this.#limit = start;
    this.#most = most;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Records that a block was fetched. The limit grows by one after twice as many blocks as it allows in parallel. */
  answered(): void {
    if (++this.#answersSinceChange < 2 * this.#limit) return;
    this.#answersSinceChange = 0;
    this.#limit = Math.min(this.#most, this.#limit + 1);
  }

  /** Halves the limit. To be called if a node timed out, refused or was unreachable, or if a block was large. */
  failed(): void {
    this.#answersSinceChange = 0;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
  }
}

/** Returns a limit that never exceeds its initial value, for work in the background. */
export const boundedConcurrency = (): AdaptiveConcurrency => new AdaptiveConcurrency(START, START);
