/** The place of a value in a list. Only the list changes its fields. */
export interface Entry<T> {
  readonly value: T;
  list: LinkedList<T> | undefined;
  previous: Entry<T> | undefined;
  next: Entry<T> | undefined;
}

/**
 * Values in the order in which they were added. Takes the place of a `Set` that exists long and changes with each
 * request: when such a Set grows, V8 links its old table, which still holds removed values, to the new one. Once a
 * table was moved to the old generation, removed values survive until the next full garbage collection, and each
 * collection of new objects copies them. Here, a removed entry refers to nothing but its value.
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

  /** Visits the values of this moment, first to last, without those that are removed meanwhile. */
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
