/** Pauses after failures: doubled from the first to the last. */
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 10_000;

export interface PollLoopDependencies {
  readonly signal: AbortSignal;
  /** One turn; resolves with whether there is more to do at once. */
  readonly turn: () => Promise<boolean>;
  readonly failed: (error: unknown, retryMs: number) => void;
  /** A turn went well after others had failed. */
  readonly recovered: () => void;
}

/** Takes turns until it is aborted. It pauses in between: not where there is more to do, and longer after failures. */
export class PollLoop {
  readonly #intervalMs: number;
  readonly #dependencies: PollLoopDependencies;
  #failure: unknown;
  #failures = 0;
  /** There was a reason for another turn since the last one began. */
  #isDue = false;
  #endPause: () => void = () => undefined;

  constructor(intervalMs: number, dependencies: PollLoopDependencies) {
    this.#intervalMs = intervalMs;
    this.#dependencies = dependencies;
  }

  get isFailing(): boolean {
    return this.#failures > 0;
  }

  /** Why the last turn failed; undefined where it did not. */
  get failure(): unknown {
    return this.#failure;
  }

  /** There is reason for another turn: it is taken at once, unless a failure is waited out. */
  wake(): void {
    this.#isDue = true;
    if (!this.isFailing) this.#endPause();
  }

  async run(): Promise<void> {
    const { signal, turn, failed, recovered } = this.#dependencies;
    signal.addEventListener('abort', () => this.#endPause());
    while (!signal.aborted) {
      let pauseMs = this.#intervalMs;
      try {
        this.#isDue = false;
        const hasMore = await turn();
        if (hasMore || this.#isDue) pauseMs = 0;
        if (this.isFailing) recovered();
        this.#failures = 0;
        this.#failure = undefined;
      } catch (error) {
        if (signal.aborted) return;
        pauseMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures);
        this.#failures++;
        this.#failure = error;
        failed(error, pauseMs);
      }
      await this.#pause(pauseMs);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#dependencies.signal.aborted) this.#endPause();
    });
  }
}
