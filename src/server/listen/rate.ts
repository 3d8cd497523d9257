/** Length of the sliding window. */
const WINDOW_SECONDS = 60;

/** Counts events and returns their rate per second over the last minute. */
export class Rate {
  readonly #nowMs: () => number;
  readonly #counts = new Array<number>(WINDOW_SECONDS).fill(0);
  #second: number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#second = this.#now();
  }

  add(count: number): void {
    this.#forget();
    const place = this.#second % WINDOW_SECONDS;
    this.#counts[place] = (this.#counts[place] ?? 0) + count;
  }

  perSecond(): number {
    this.#forget();
    return this.#counts.reduce((sum, count) => sum + count, 0) / WINDOW_SECONDS;
  }

  /** Sets the counts of the seconds that have passed since the last call to 0. */
  #forget(): void {
    const now = this.#now();
    const passed = Math.min(now - this.#second, WINDOW_SECONDS);
    for (let i = 0; i < passed; i++) this.#counts[(now - i) % WINDOW_SECONDS] = 0;
    this.#second = now;
  }

  #now(): number {
    return Math.floor(this.#nowMs() / 1000);
  }
}
