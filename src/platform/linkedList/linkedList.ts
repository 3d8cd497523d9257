/** The position of a value in a list. Only the list changes its fields. */
export interface Entry<T> {
  readonly value: T;
  list: LinkedList<T> | undefined;
  previous: Entry<T> | undefined;
  next: Entry<T> | undefined;
}

/**
 * Values in the order in which they were added. Use it instead of a `Set` that lives long and changes with each
 * request. V8 links the old table of a growing Set, which still has removed values, to the new one. Once a table is in
 * the old generation, removed values survive until the next full garbage collection, and each collection of new objects
 * copies them. A removed entry of this list refers only to its value.
 */
export class LinkedList<T> {
  #first: Entry<T> | undefined;
  #last: Entry<T> | undefined;

  get first(): T | undefined {
    return this.#first?.value;
  }

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  /** Yields the present values, first to last. Skips values that are removed before they are yielded. */
  *values(): Iterable<T> {
    const entries: Entry<T>[] = [];
    for (let entry = this.#first; entry !== undefined; entry = entry.next) entries.push(entry);
    for (const { list, value } of entries) if (list === this) yield value;
  }

  /** Adds a value at the end. */
  append(value: T): Entry<T> {
    const previous = this.#last;
    const entry: Entry<T> = { value, list: this, previous, next: undefined };
    if (previous === undefined) this.#first = entry;
    else previous.next = entry;
    this.#last = entry;
    return entry;
  }

  /** Returns false if the entry is not in this list. */
  remove(entry: Entry<T>): boolean {
    if (entry.list !== this) return false;
    const { previous, next } = entry;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    entry.list = undefined;
    entry.previous = undefined;
    entry.next = undefined;
    return true;
  }
}
