/**
 * Raises the learned limits of a zone that is judged by query rate while its queries are limited, although the DNS
 * servers answer in time. Genuine traffic that grew is thus answered again within minutes.
 */

/** Time between two steps. A step raises the limits by a tenth, so that they double in 75 seconds. */
const STEP_MS = 10_000;
const STEP_FACTOR = 1.1;
/** The limits are learned ones again after this time without limited queries. */
const KEPT_MS = 3_600_000;

export interface AllowanceState {
  /** Whether queries were limited since the last update. */
  readonly isLimited: boolean;
  /** Whether the servers have answered in time for long enough. */
  readonly isRelaxed: boolean;
  readonly mostFactor: number;
}

export class Allowance {
  /** Factor of the learned limits; at least 1. */
  factor = 1;
  #steppedMs = Number.NEGATIVE_INFINITY;
  #limitedMs = Number.NEGATIVE_INFINITY;

  /** Call every second. */
  update({ isLimited, isRelaxed, mostFactor }: AllowanceState, nowMs: number): void {
    // If the clock was set back, times in the future would stop the steps.
    this.#steppedMs = Math.min(this.#steppedMs, nowMs);
    this.#limitedMs = isLimited ? nowMs : Math.min(this.#limitedMs, nowMs);
    if (!isRelaxed || nowMs - this.#limitedMs > KEPT_MS) this.factor = 1;
    else if (isLimited && nowMs - this.#steppedMs >= STEP_MS) {
      this.#steppedMs = nowMs;
      this.factor *= STEP_FACTOR;
    }
    this.factor = Math.max(1, Math.min(this.factor, mostFactor));
  }
}
