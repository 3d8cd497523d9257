/**
 * A value that is frequent in a stream. {@link SpaceSaving} finds such values in bounded memory (Metwally, Agrawal
 * and El Abbadi, 2005). If the weights of all values add up to N, every value with a weight above N / `capacity` has
 * a counter. The count of a value is never too low, and is too high by at most its `error`.
 */
export interface HeavyHitter {
  readonly value: string;
  readonly count: number;
  /** Maximum part of `count` that belongs to other values, for which the counter was used earlier. */
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

  /** Returns the most frequent values, at most `most`, in descending order of their counts. */
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
