import { doubled, KeyTable, MAX_KEYS } from './keyTable.ts';

/**
 * In-memory posting lists of the newest blocks of a segment. Adding a position writes a few numbers; on disk it would
 * rewrite a page of the list. After a reorg, the positions that were added last can be removed again.
 *
 * The entries of a posting list form a linked list: each entry refers to the previous entry, and the posting list
 * refers to its last entry. A key identifies a posting list; all keys have the same byte length.
 */
export class RecentPostings {
  readonly #keys: KeyTable;
  /** For each list, the number of its last entry plus one; 0 if the list is empty. */
  #lasts = new Uint32Array(INITIAL_LISTS);
  #counts = new Uint32Array(INITIAL_LISTS);
  #positions = new Uint32Array(INITIAL_ENTRIES);
  /** For each entry, the number of the previous entry of its list plus one; 0 for the first entry of a list. */
  #befores = new Uint32Array(INITIAL_ENTRIES);
  #owners = new Uint32Array(INITIAL_ENTRIES);
  #entries = 0;

  constructor(keyBytes: number) {
    this.#keys = new KeyTable(keyBytes);
  }

  /** Total number of positions in all lists. */
  get size(): number {
    return this.#entries;
  }

  /** Adds a position to the list whose key starts at offset `at` of `bytes`. */
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

  /** Removes the positions that were added last, so that the lists contain `size` positions in total. */
  truncate(size: number): void {
    while (this.#entries > size) {
      const entry = --this.#entries;
      const list = this.#owners[entry] ?? 0;
      this.#lasts[list] = this.#befores[entry] ?? 0;
      this.#counts[list] = (this.#counts[list] ?? 0) - 1;
    }
  }

  /** Returns the number of the list whose key starts at offset `at` of `bytes`; undefined if there is none. */
  find(bytes: Uint8Array, at: number): number | undefined {
    return this.#keys.find(bytes, at);
  }

  /** Returns the positions of a list in ascending order, even if they were added in another order. */
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

  /** Returns the key of a list. The bytes are valid until the next call of `add`. */
  keyOf(list: number): Uint8Array {
    return this.#keys.keyOf(list);
  }

  /** Returns the numbers of all lists, sorted by the first four bytes of their keys. First bytes must be below 4. */
  inOrder(): Uint32Array {
    const keys = this.#keys;
    const sorted = new Float64Array(keys.length);
    for (let list = 0; list < keys.length; list++) {
      // The first byte is below 4, so four bytes of the key are 26 bits. With the 27 bits of the list's number, they
      // are 53 bits, which a double represents exactly.
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
