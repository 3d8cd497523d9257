import { doubled, KeyTable, MAX_KEYS } from './keyTable.ts';

/**
 * In-memory posting lists of the newest blocks of a segment. Adding a position writes a few numbers here; on disk it
 * would rewrite a page of the list. The last positions can be removed again, for a reorg.
 *
 * Entries form a linked list per posting list: each entry refers to the previous one, and the list to its last
 * entry. Lists are found by keys of equal byte length.
 */
export class RecentPostings {
  readonly #keys: KeyTable;
  /** By list: number of its last entry plus one; 0 if the list is empty. */
  #lasts = new Uint32Array(INITIAL_LISTS);
  #counts = new Uint32Array(INITIAL_LISTS);
  #positions = new Uint32Array(INITIAL_ENTRIES);
  /** By entry: number of the previous entry of its list plus one; 0 for the first. */
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

  /** Adds a position to the list of the key at offset `at` of `bytes`. */
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

  /** Removes all positions except the first `size` added. */
  truncate(size: number): void {
    while (this.#entries > size) {
      const entry = --this.#entries;
      const list = this.#owners[entry] ?? 0;
      this.#lasts[list] = this.#befores[entry] ?? 0;
      this.#counts[list] = (this.#counts[list] ?? 0) - 1;
    }
  }

  /** Returns the number of the list of the key at offset `at` of `bytes`; undefined if there is none. */
  find(bytes: Uint8Array, at: number): number | undefined {
    return this.#keys.find(bytes, at);
  }

  /** Returns the positions of a list, ascending. */
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

  /** Returns the key of a list; the bytes are valid until something is added. */
  keyOf(list: number): Uint8Array {
    return this.#keys.keyOf(list);
  }

  /** Returns the numbers of all lists, sorted by the first four bytes of their keys. */
  inOrder(): Uint32Array {
    const keys = this.#keys;
    const sorted = new Float64Array(keys.length);
    for (let list = 0; list < keys.length; list++) {
      // 26 bits of the key (its first byte only distinguishes sides) and 27 bits of the number: 53 bits, exact in a
      // double.
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
