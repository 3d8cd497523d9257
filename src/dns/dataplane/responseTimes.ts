/**
 * Response times of the DNS servers for known names, counted by all threads in shared memory. Queries for unknown
 * names are ignored, because an attacker chooses them, and may choose names that are slow or fail.
 */

/** Response times are counted in steps of 1 ms. The last counter includes all longer times. */
export const TIME_COUNTERS = 512;
const UNANSWERED = TIME_COUNTERS;
const FAILED_PROBES = TIME_COUNTERS + 1;
/** Longest delay of a timer, which shows that a thread was blocked and read answers late. */
const LAG_MS = TIME_COUNTERS + 2;
const WORDS = TIME_COUNTERS + 3;

export const newResponseTimes = (): SharedArrayBuffer => new SharedArrayBuffer(WORDS * 4);

/** What all threads counted in one second, or in several seconds. */
export class TimeCounts {
  /** Number of answered queries by response time in milliseconds. */
  readonly times = new Int32Array(TIME_COUNTERS);
  answered = 0;
  unanswered = 0;
  failedProbes = 0;
  lagMs = 0;

  get queries(): number {
    return this.answered + this.unanswered;
  }

  clear(): void {
    this.times.fill(0);
    this.answered = 0;
    this.unanswered = 0;
    this.failedProbes = 0;
    this.lagMs = 0;
  }

  add({ times, answered, unanswered, failedProbes, lagMs }: TimeCounts): void {
    if (answered > 0)
      for (let ms = 0; ms < TIME_COUNTERS; ms++) this.times[ms] = (this.times[ms] ?? 0) + (times[ms] ?? 0);
    this.answered += answered;
    this.unanswered += unanswered;
    this.failedProbes += failedProbes;
    this.lagMs = Math.max(this.lagMs, lagMs);
  }
}

/** Counters of one thread, in the memory that all threads share. Parameters `userZone`: see `QueryPolicy.userZone`. */
export class ResponseTimes {
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer = newResponseTimes()) {
    this.#words = new Int32Array(memory);
  }

  answered(userZone: number, timeMs: number): void {
    if (userZone === 0) return;
    Atomics.add(this.#words, Math.min(TIME_COUNTERS - 1, Math.max(0, Math.round(timeMs))), 1);
  }

  /** Counts a query that no server answered in time, or that was answered SERVFAIL. */
  unanswered(userZone: number): void {
    if (userZone !== 0) Atomics.add(this.#words, UNANSWERED, 1);
  }

  /** Counts an unanswered probe of the only server. */
  probeFailed(): void {
    Atomics.add(this.#words, FAILED_PROBES, 1);
  }

  /** Records that a timer fired late by this time. */
  noteLag(lagMs: number): void {
    const lag = Math.round(lagMs);
    for (let longest = Atomics.load(this.#words, LAG_MS); lag > longest; ) {
      const before = Atomics.compareExchange(this.#words, LAG_MS, longest, lag);
      if (before === longest) return;
      longest = before;
    }
  }

  /** Moves the counts of all threads to `counts`, and begins to count from zero. */
  takeTo(counts: TimeCounts): void {
    const taken = (word: number): number => Atomics.exchange(this.#words, word, 0);
    counts.answered = 0;
    for (let ms = 0; ms < TIME_COUNTERS; ms++) {
      const answered = taken(ms);
      counts.times[ms] = answered;
      counts.answered += answered;
    }
    counts.unanswered = taken(UNANSWERED);
    counts.failedProbes = taken(FAILED_PROBES);
    counts.lagMs = taken(LAG_MS);
  }
}
