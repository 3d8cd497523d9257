import { doubled, KeyTable, MAX_KEYS } from './keyTable.ts';

/**
 * Posting lists of the blocks of a segment that came last, in memory: a position costs a few numbers here, where each list's
 * page would have to be written anew on disk. What was added last can be taken out again, as a chain can lose its end.
 *
 * An entry is one position of one list, and knows the list's entry before it; a list knows its last entry. Lists are found
 * in a table by their keys, which are bytes of one length.
 */
export class RecentPostings {
  readonly #keys: KeyTable;
  /** By list: its last entry and one, 0 where it has none. */
  #lasts = new Uint32Array(INITIAL_LISTS);
  /** By list: how many entries it has. */
  #counts = new Uint32Array(INITIAL_LISTS);
  #positions = new Uint32Array(INITIAL_ENTRIES);
  /** By entry: the entry before it in its list and one, 0 for the first. */
  #befores = new Uint32Array(INITIAL_ENTRIES);
  /** By entry: the number of its list. */
  #owners = new Uint32Array(INITIAL_ENTRIES);
  #entries = 0;

  constructor(keyBytes: number) {
    this.#keys = new KeyTable(keyBytes);
  }

  /** How many positions there are in all lists. */
  get size(): number {
    return this.#entries;
  }

  /** Adds a position to the list whose key stands at `at` of `bytes`. */
  add(bytes: Uint8Array, at: number, position: number): void {
    const list = this.#keys.findOrAdd(bytes, at);
    if (list === this.#lasts.length) {
      this.#lasts = doubled(this.#lasts);
      this.#counts = doubled(this.#counts);
    }
    const entry = this.#entries++;
    if (entry === this.#positions.length) {
      this.#positions = doubled(this.#positions);
      this.#befores = doubled(this.#befores);
      this.#owners = doubled(this.#owners);
    }
    this.#positions[entry] = position;
    this.#befores[entry] = this.#lasts[list] ?? 0;
    this.#owners[entry] = list;
    this.#lasts[list] = entry + 1;
    this.#counts[list] = (this.#counts[list] ?? 0) + 1;
  }

  /** Takes all positions out again but the first `size` that were added. */
  truncate(size: number): void {
    while (this.#entries > size) {
      const entry = --this.#entries;
      const list = this.#owners[entry] ?? 0;
      this.#lasts[list] = this.#befores[entry] ?? 0;
      this.#counts[list] = (this.#counts[list] ?? 0) - 1;
    }
  }

  /** The number of the list whose key stands at `at` of `bytes`; undefined where there is none. */
  find(bytes: Uint8Array, at: number): number | undefined {
    return this.#keys.find(bytes, at);
  }

  /** The positions of a list, ascending. */
  positionsOf(list: number): Uint32Array {
    const count = this.#counts[list] ?? 0;
    const positions = new Uint32Array(count);
    let entry = this.#lasts[list] ?? 0;
    let isAscending = true;
    for (let i = count - 1; i >= 0; i--) {
      const position = this.#positions[entry - 1] ?? 0;
      positions[i] = position;
      if (i < count - 1 && position > (positions[i + 1] ?? 0)) isAscending = false;
      entry = this.#befores[entry - 1] ?? 0;
    }
    return isAscending ? positions : positions.sort();
  }

  /** The key of a list, as bytes that are good until something is added. */
  keyOf(list: number): Uint8Array {
    return this.#keys.keyOf(list);
  }

  /** The numbers of all lists in the order of their keys' first four bytes. */
  inOrder(): Uint32Array {
    const keys = this.#keys;
    const sorted = new Float64Array(keys.length);
    for (let list = 0; list < keys.length; list++) {
      // 26 bits, as the first byte tells one side from another, and 27 for the number: together what a double holds exactly.
      const prefix =
        ((keys.byteOf(list, 0) & 0b11) << 24) |
        (keys.byteOf(list, 1) << 16) |
        (keys.byteOf(list, 2) << 8) |
        keys.byteOf(list, 3);
      sorted[list] = prefix * MAX_KEYS + list;
    }
    sorted.sort();
    return Uint32Array.from(sorted, (number) => number % MAX_KEYS);
  }
}

const INITIAL_LISTS = 1024;
const INITIAL_ENTRIES = 2048;
