/** Minimum time between lines. A line for each closed connection would let an attacker fill the log. */
const LOG_EVERY_MS = 10_000;

export interface WarningLog {
  warn(fields: object, message: string): void;
}

/** Logs at most one line in ten seconds, and drops the others. */
export class RareLog implements WarningLog {
  readonly #log: WarningLog;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(log: WarningLog) {
    this.#log = log;
  }

  warn(fields: object, message: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#loggedAtMs < LOG_EVERY_MS) return;
    this.#loggedAtMs = nowMs;
    this.#log.warn(fields, message);
  }
}
