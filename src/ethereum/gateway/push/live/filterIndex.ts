/** Values that a filter allows, by position. Undefined allows any value. */
export type WantedValues = readonly (ReadonlySet<string> | undefined)[];

/** Values of an item, by position. A position may have several, such as the sender and the recipient of a trace. */
export type ItemValues = readonly (readonly string[])[];

interface Entry<F> {
  readonly filter: F;
  /** Position whose values are in the index. Undefined if the filter allows any value in all positions. */
  position: number | undefined;
  /** Number of items without a match that the filter was compared with since its last move. */
  misses: number;
}

/**
 * Finds the filters that match an item. A filter is in the index with the values of one position. If items have these
 * values but do not match, the filter moves to a position that excludes them.
 */
export class FilterIndex<F extends { readonly wanted: WantedValues }> {
  readonly #byValue: Map<string, Set<Entry<F>>>[] = [];
  /** Filters that allow any value in all positions. */
  readonly #wildcards = new Set<Entry<F>>();

  /** Adds a filter. Returns a function that removes it. */
  add(filter: F): () => void {
    const entry: Entry<F> = { filter, position: this.#bestPosition(filter.wanted), misses: 0 };
    this.#insert(entry);
    return () => this.#remove(entry);
  }

  has(position: number, value: string): boolean {
    return this.#byValue[position]?.has(value) === true;
  }

  /** Yields each filter that matches an item once. Yields undefined for others, so that the caller can pause. */
  *matches(values: ItemValues): Generator<F | undefined> {
    for (const { filter } of this.#wildcards) yield filter;
    for (const [position, own] of values.entries())
      for (const [i, value] of own.entries())
        for (const entry of this.#byValue[position]?.get(value) ?? []) {
          const isRepeated = i > 0 && hasAny(entry.filter.wanted[position], own.slice(0, i));
          yield !isRepeated && this.#isMatch(entry, values) ? entry.filter : undefined;
        }
  }

  /** Returns the position with the fewest values, and with values that few other filters are in the index with. */
  #bestPosition(wanted: WantedValues): number | undefined {
    let best: number | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [position, values] of wanted.entries()) {
      if (values === undefined) continue;
      let cost = values.size;
      for (const value of values) cost += this.#byValue[position]?.get(value)?.size ?? 0;
      if (cost < least) [best, least] = [position, cost];
    }
    return best;
  }

  #isMatch(entry: Entry<F>, values: ItemValues): boolean {
    for (const [position, wanted] of entry.filter.wanted.entries()) {
      if (wanted === undefined || position === entry.position || hasAny(wanted, values[position] ?? []))
        continue;
      entry.misses++;
      // A move costs time in proportion to the number of values, so it follows at least as many misses.
      if (entry.misses > wanted.size) this.#move(entry, position);
      return false;
    }
    return true;
  }

  #move(entry: Entry<F>, position: number): void {
    this.#remove(entry);
    entry.position = position;
    entry.misses = 0;
    this.#insert(entry);
  }

  #insert(entry: Entry<F>): void {
    if (entry.position === undefined) return void this.#wildcards.add(entry);
    this.#byValue[entry.position] ??= new Map();
    const byValue = this.#byValue[entry.position];
    for (const value of entry.filter.wanted[entry.position] ?? [])
      byValue?.set(value, (byValue.get(value) ?? new Set()).add(entry));
  }

  #remove(entry: Entry<F>): void {
    if (entry.position === undefined) return void this.#wildcards.delete(entry);
    const byValue = this.#byValue[entry.position];
    for (const value of entry.filter.wanted[entry.position] ?? []) {
      const entries = byValue?.get(value);
      entries?.delete(entry);
      if (entries?.size === 0) byValue?.delete(value);
    }
  }
}

const hasAny = (wanted: ReadonlySet<string> | undefined, values: readonly string[]): boolean =>
  values.some((value) => wanted?.has(value));
