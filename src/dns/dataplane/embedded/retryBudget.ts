/** How many queries may be asked a second time: a tenth of all, so that a flood is never doubled. No I/O. */

/** Of each query. */
const SHARE = 0.1;
/** At once, after a time in which none was needed: the first moments of a server that fails. */
const BURST = 100;

export class RetryBudget {
  #retries = BURST;

  /** A query was asked for the first time. */
  earn(): void {
    if (this.#retries < BURST) this.#retries += SHARE;
  }

  /** Whether one more may be asked again. */
  take(): boolean {
    if (this.#retries < 1) return false;
    this.#retries--;
    return true;
  }
}
