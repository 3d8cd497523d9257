/** Limits retries to a tenth of all queries, so that retries do not double a flood. No I/O. */

const SHARE = 0.1;
/** Maximum number of saved retries, which are used in the first moments after a server fails. */
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
