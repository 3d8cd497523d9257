/** Values that a filter allows, by position. Undefined allows any value. */
export type WantedValues = readonly (ReadonlySet<string> | undefined)[];

/** Values of an item, by position. A position may have several, such as the sender and the recipient of a trace. */
export type ItemValues = readonly (readonly string[])[];

interface ClientFilter<C extends object> {
  readonly client: C;
  readonly wanted: WantedValues;
}

interface Entry<F> {
  readonly filter: F;
  /** Position whose values are in the index. Undefined if the filter allows any value in all positions. */
  position: number | undefined;
  /** Number of items without a match that the filter was compared with since its last move. */
  misses: number;
}

/** Entries by client. Most clients have a single one, which takes less memory without a Set. */
type Entries<F, C> = Map<C, Entry<F> | Set<Entry<F>>>;

/**
 * Finds the clients with filters that match an item, and then these filters of one client. A filter is in the index
 * with the values of one position. If items have these values but do not match, the filter moves to a position that
 * excludes them.
 */
export class FilterIndex<C extends object, F extends ClientFilter<C>> {
  readonly #byValue: Map<string, Entries<F, C>>[] = [];
  /** Filters that allow any value in all positions. */
  readonly #wildcards: Entries<F, C> = new Map();
  /** Filters that should move, and their new positions. They move before the next search, not during one. */
  readonly #moves = new Map<Entry<F>, number>();

  /** Adds a filter. Returns a function that removes it. */
  add(filter: F): () => void {
    const entry: Entry<F> = { filter, position: this.#bestPosition(filter.wanted), misses: 0 };
    this.#insert(entry);
    return () => {
      this.#remove(entry);
      this.#moves.delete(entry);
    };
  }

  has(position: number, value: string): boolean {
    return this.#byValue[position]?.has(value) === true;
  }

  /**
   * Yields each client with a filter that matches an item once. Yields undefined after other steps, so that other work
   * can run. It must not be called again before the end.
   */
  *clients(values: ItemValues): Generator<C | undefined> {
    for (const [entry, position] of [...this.#moves]) {
      if (!this.#moves.delete(entry)) continue; // the filter was removed meanwhile
      this.#move(entry, position);
      yield undefined;
    }
    const found = new Set(this.#wildcards.keys());
    yield* found;
    for (const [position, own] of values.entries())
      for (const value of own)
        for (const [client, held] of this.#byValue[position]?.get(value) ?? []) {
          for (const entry of found.has(client) ? [] : entriesIn(held)) {
            if (this.#isMatch(entry, values)) found.add(client);
            yield found.has(client) ? client : undefined;
            if (found.has(client)) break;
          }
        }
  }

  /** Yields each filter of a client that matches an item once. Yields undefined after other comparisons. */
  *matches(client: C, values: ItemValues): Generator<F | undefined> {
    const entries = new Set(entriesIn(this.#wildcards.get(client)));
    for (const [position, own] of values.entries())
      for (const value of own)
        for (const entry of entriesIn(this.#byValue[position]?.get(value)?.get(client))) entries.add(entry);
    for (const entry of entries) yield this.#isMatch(entry, values) ? entry.filter : undefined;
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

  /** Returns true if the filter matches. Otherwise counts a miss. */
  #isMatch(entry: Entry<F>, values: ItemValues): boolean {
    for (const [position, wanted] of entry.filter.wanted.entries()) {
      if (wanted === undefined || hasAny(wanted, values[position] ?? [])) continue;
      entry.misses++;
      // A move costs time in proportion to the number of values, so it follows at least as many misses.
      if (entry.misses > wanted.size) this.#moves.set(entry, position);
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
    if (entry.position === undefined) return insert(this.#wildcards, entry);
    this.#byValue[entry.position] ??= new Map();
    const byValue = this.#byValue[entry.position];
    for (const value of entry.filter.wanted[entry.position] ?? []) {
      const entries: Entries<F, C> = byValue?.get(value) ?? new Map();
      byValue?.set(value, entries);
      insert(entries, entry);
    }
  }

  #remove(entry: Entry<F>): void {
    if (entry.position === undefined) return remove(this.#wildcards, entry);
    const byValue = this.#byValue[entry.position];
    for (const value of entry.filter.wanted[entry.position] ?? []) {
      const entries = byValue?.get(value);
      if (entries === undefined) continue;
      remove(entries, entry);
      if (entries.size === 0) byValue?.delete(value);
    }
  }
}

function insert<C extends object, F extends ClientFilter<C>>(entries: Entries<F, C>, entry: Entry<F>): void {
  const { client } = entry.filter;
  const held = entries.get(client);
  if (held instanceof Set) held.add(entry);
  else entries.set(client, held === undefined ? entry : new Set([held, entry]));
}

function remove<C extends object, F extends ClientFilter<C>>(entries: Entries<F, C>, entry: Entry<F>): void {
  const { client } = entry.filter;
  const held = entries.get(client);
  if (held instanceof Set) held.delete(entry);
  if (held === entry || (held instanceof Set && held.size === 0)) entries.delete(client);
}

function entriesIn<F>(held: Entry<F> | ReadonlySet<Entry<F>> | undefined): Iterable<Entry<F>> {
  if (held === undefined) return [];
  return held instanceof Set ? held : [held as Entry<F>]; // it is no Set
}

const hasAny = (wanted: ReadonlySet<string> | undefined, values: readonly string[]): boolean =>
  values.some((value) => wanted?.has(value));
