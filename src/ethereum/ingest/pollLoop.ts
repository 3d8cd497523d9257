/** Pause after the first failed pass. It doubles with each further failure, up to `LAST_RETRY_MS`. */
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 10_000;

export interface PollLoopDependencies {
  readonly signal: AbortSignal;
  /** Runs one pass. Resolves with true if another pass should follow without a pause. */
  readonly pass: () => Promise<boolean>;
  readonly failed: (error: unknown, retryMs: number) => void;
  /** Called when a pass has succeeded after failed ones. */
  readonly recovered: () => void;
}

/** Runs passes until aborted, with pauses at the poll interval. After failures, the pauses grow. */
export class PollLoop {
  readonly #intervalMs: number;
  readonly #dependencies: PollLoopDependencies;
  #failure: unknown;
  #failures = 0;
  /** True if `wake` was called since the current pass began, so that another one follows without a pause. */
  #isDue = false;
  #endPause: () => void = () => undefined;

  constructor(intervalMs: number, dependencies: PollLoopDependencies) {
    this.#intervalMs = intervalMs;
    this.#dependencies = dependencies;
  }

  get isFailing(): boolean {
    return this.#failures > 0;
  }

  get failure(): unknown {
    return this.#failure;
  }

  /** Requests another pass. The pass starts immediately, unless the loop pauses after a failure. */
  wake(): void {
    this.#isDue = true;
    if (!this.isFailing) this.#endPause();
  }

  async run(): Promise<void> {
    const { signal, pass, failed, recovered } = this.#dependencies;
    signal.addEventListener('abort', () => this.#endPause());
    while (!signal.aborted) {
      let pauseMs = this.#intervalMs;
      try {
        this.#isDue = false;
        const hasMore = await pass();
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
