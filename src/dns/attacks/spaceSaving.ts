/**
 * The most frequent of a stream, in bounded memory: Space-Saving (Metwally, Agrawal and El Abbadi, 2005). With `capacity`
 * counters and a stream of weight N everything that is more than N / capacity of it is counted here, whatever else comes: a flood
 * of values that come once takes turns in the smallest counters. A count is never too small, and too large by its `error` at most.
 */
export interface HeavyHitter {
  readonly value: string;
  readonly count: number;
  /** So much of the count may be that of values whose counter it took over. */
  readonly error: number;
}

export class SpaceSaving {
  readonly #capacity: number;
  readonly #counters = new Map<string, { count: number; error: number }>();

  constructor(capacity: number, stored: readonly HeavyHitter[] = []) {
    this.#capacity = capacity;
    for (const { value, count, error } of stored.slice(0, capacity))
      this.#counters.set(value, { count, error });
  }

  add(value: string, weight: number): void {
    const found = this.#counters.get(value);
    if (found !== undefined) found.count += weight;
    else if (this.#counters.size < this.#capacity) this.#counters.set(value, { count: weight, error: 0 });
    else this.#takeOver(value, weight);
  }

  /** The most frequent, at most so many, the first the most frequent. */
  top(most: number): HeavyHitter[] {
    return [...this.#counters]
      .map(([value, { count, error }]) => ({ value, count, error }))
      .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1))
      .slice(0, most);
  }

  #takeOver(value: string, weight: number): void {
    let smallest = '';
    let least = Number.POSITIVE_INFINITY;
    for (const [key, { count }] of this.#counters)
      if (count < least) {
        least = count;
        smallest = key;
      }
    this.#counters.delete(smallest);
    this.#counters.set(value, { count: least + weight, error: least });
  }
}
