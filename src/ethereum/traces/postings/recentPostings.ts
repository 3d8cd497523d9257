import { randomInt } from 'node:crypto';

/**
 * Posting lists of the blocks of a segment that came last, in memory: a position costs a few numbers here, where each list's
 * page would have to be written anew on disk. What was added last can be taken out again, as a chain can lose its end.
 *
 * An entry is one position of one list, and knows the list's entry before it; a list knows its last entry. Lists are found
 * in a table by their keys, which are bytes of one length.
 */
export class RecentPostings {
  readonly #keyBytes: number;
  /** Addresses can be chosen by whoever wants long ways through the table: this they do not know. */
  readonly #seed = randomInt(2 ** 32);
  #keys: Uint8Array;
  /** By list: its last entry and one, 0 where it has none. */
  #lasts = new Uint32Array(INITIAL_LISTS);
  /** By list: how many entries it has. */
  #counts = new Uint32Array(INITIAL_LISTS);
  #lists = 0;
  /** Numbers of lists and one, by the hash of their keys; 0 where there is none. Half of it is empty at least. */
  #table = new Uint32Array(2 * INITIAL_LISTS);
  #positions = new Uint32Array(INITIAL_ENTRIES);
  /** By entry: the entry before it in its list and one, 0 for the first. */
  #befores = new Uint32Array(INITIAL_ENTRIES);
  /** By entry: the number of its list. */
  #owners = new Uint32Array(INITIAL_ENTRIES);
  #entries = 0;

  constructor(keyBytes: number) {
    this.#keyBytes = keyBytes;
    this.#keys = new Uint8Array(INITIAL_LISTS * keyBytes);
  }

  /** How many positions there are in all lists. */
  get size(): number {
    return this.#entries;
  }

  /** Adds a position to the list whose key stands at `at` of `bytes`. */
  add(bytes: Uint8Array, at: number, position: number): void {
    const list = this.#findOrMake(bytes, at);
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
    const list = (this.#table[this.#slotOf(bytes, at)] ?? 0) - 1;
    return list === -1 ? undefined : list;
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
    return this.#keys.subarray(list * this.#keyBytes, (list + 1) * this.#keyBytes);
  }

  /** The numbers of all lists in the order of their keys' first four bytes. */
  inOrder(): Uint32Array {
    const sorted = new Float64Array(this.#lists);
    for (let list = 0; list < this.#lists; list++) {
      const at = list * this.#keyBytes;
      // 26 bits, as the first byte tells one side from another, and 27 for the number: together what a double holds exactly.
      const prefix =
        ((this.#byte(at) & 0b11) << 24) |
        (this.#byte(at + 1) << 16) |
        (this.#byte(at + 2) << 8) |
        this.#byte(at + 3);
      sorted[list] = prefix * MAX_LISTS + list;
    }
    sorted.sort();
    return Uint32Array.from(sorted, (number) => number % MAX_LISTS);
  }

  #byte(at: number): number {
    return this.#keys[at] ?? 0;
  }

  #findOrMake(bytes: Uint8Array, at: number): number {
    let slot = this.#slotOf(bytes, at);
    const found = (this.#table[slot] ?? 0) - 1;
    if (found !== -1) return found;
    const list = this.#lists;
    if (list === this.#lasts.length) {
      this.#grow();
      slot = this.#slotOf(bytes, at);
    }
    this.#lists++;
    for (let i = 0; i < this.#keyBytes; i++) this.#keys[list * this.#keyBytes + i] = bytes[at + i] ?? 0;
    this.#table[slot] = list + 1;
    return list;
  }

  #grow(): void {
    if (2 * this.#lists > MAX_LISTS) throw new RangeError(`more than ${MAX_LISTS} lists of recent blocks`);
    this.#lasts = doubled(this.#lasts);
    this.#counts = doubled(this.#counts);
    const keys = new Uint8Array(2 * this.#keys.length);
    keys.set(this.#keys);
    this.#keys = keys;
    this.#table = new Uint32Array(2 * this.#table.length);
    for (let list = 0; list < this.#lists; list++)
      this.#table[this.#slotOf(keys, list * this.#keyBytes)] = list + 1;
  }

  /** Where in the table the key at `at` of `bytes` stands, or would. */
  #slotOf(bytes: Uint8Array, at: number): number {
    let hash = this.#seed;
    for (let i = 0; i < this.#keyBytes; i++) hash = Math.imul(hash ^ (bytes[at + i] ?? 0), FNV_PRIME);
    const mask = this.#table.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const list = (this.#table[slot] ?? 0) - 1;
      if (list === -1 || this.#isKeyOf(list, bytes, at)) return slot;
    }
  }

  #isKeyOf(list: number, bytes: Uint8Array, at: number): boolean {
    const start = list * this.#keyBytes;
    for (let i = 0; i < this.#keyBytes; i++) if (this.#keys[start + i] !== bytes[at + i]) return false;
    return true;
  }
}

const INITIAL_LISTS = 1024;
const INITIAL_ENTRIES = 2048;
/** More than any blocks that are kept in memory at a time have. */
const MAX_LISTS = 2 ** 27;
/** The multiplier of the hash FNV-1a of 32 bits. */
const FNV_PRIME = 0x01000193;

function doubled(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * numbers.length);
  larger.set(numbers);
  return larger;
}
