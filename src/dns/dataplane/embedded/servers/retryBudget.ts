/** Limits retries with another server to a tenth of all queries, so that retries do not double a flood. No I/O. */

const SHARE = 0.1;
/** Maximum number of unused retries that are saved up. They are used when a server begins to fail. */
const BURST = 100;

export class RetryBudget {
  #retries = BURST;

  earn(): void {
    if (this.#retries < BURST) this.#retries += SHARE;
  }

  take(): boolean {
    if (this.#retries < 1) return false;
    this.#retries--;
    return true;
  }
}
