/**
 * Limits the SERVFAIL answers that one thread sends because no DNS server answers. Source addresses of UDP queries may
 * be forged, so these answers must stay few. No I/O.
 */
const MAX_PER_SECOND = 1000;

export class ServfailLimit {
  /** Number of SERVFAIL answers since the start. */
  sent = 0;
  #second = 0;
  #sentInSecond = 0;

  /** Returns true, and counts the answers, if `answers` more of them may be sent in this second. */
  take(nowMs: number, answers = 1): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#sentInSecond = 0;
    }
    if (this.#sentInSecond + answers > MAX_PER_SECOND) return false;
    this.#sentInSecond += answers;
    this.sent += answers;
    return true;
  }
}
