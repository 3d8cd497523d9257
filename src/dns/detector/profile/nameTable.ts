/**
 * Hash table of known names in shared memory of fixed size: a 64-bit hash and 72 bits of data per name, with open
 * addressing and linear probing. One thread inserts and deletes names, all threads look names up.
 */

/** Words per slot: two for the hash of a name, and two for data about the name (first and second note). */
const WORDS_PER_SLOT = 4;
const BYTES_PER_SLOT = WORDS_PER_SLOT * 4;
/**
 * Size of the version, which follows the slots and is odd while names are moved. One byte per slot (its mark) follows
 * the version.
 */
const VERSION_BYTES = 4;
/**
 * Maximum share of used slots. A name then takes 21.25 bytes, and the lookup of an unknown name probes 13 slots (four
 * cache lines) on average.
 */
const MAX_LOAD = 0.8;
const TWO_TO_32 = 2 ** 32;

export class NameTable {
  readonly capacity: number;
  readonly slots: number;
  readonly #words: Uint32Array;
  readonly #version: Int32Array;
  readonly #marks: Uint8Array;
  #size = 0;

  /** With the `memory` of another table, creates a table for lookups only: its `size` is not updated. */
  constructor(capacity: number, memory = new SharedArrayBuffer(NameTable.bytesFor(capacity))) {
    this.capacity = capacity;
    this.slots = slotsFor(capacity);
    this.#words = new Uint32Array(memory, 0, this.slots * WORDS_PER_SLOT);
    this.#version = new Int32Array(memory, this.slots * BYTES_PER_SLOT, 1);
    this.#marks = new Uint8Array(memory, this.slots * BYTES_PER_SLOT + VERSION_BYTES, this.slots);
  }

  static bytesFor(capacity: number): number {
    return slotsFor(capacity) * (BYTES_PER_SLOT + 1) + VERSION_BYTES;
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return NameTable.bytesFor(this.capacity);
  }

  /** Returns the slot of a name, or -1 if the name is not in the table. Retries while another thread moves names. */
  find(high: number, low: number): number {
    for (;;) {
      const version = Atomics.load(this.#version, 0);
      const slot = this.#probe(high, low);
      if ((version & 1) === 0 && Atomics.load(this.#version, 0) === version) return slot;
    }
  }

  #probe(high: number, low: number): number {
    const words = this.#words;
    for (let slot = this.#home(high); ; slot = this.#next(slot)) {
      const at = slot * WORDS_PER_SLOT;
      if (words[at] === high && words[at + 1] === low) return slot;
      if (words[at] === 0 && words[at + 1] === 0) return -1;
    }
  }

  /** Inserts a name that is not in the table, with empty notes. Returns its slot, or -1 if the table is full. */
  insert(high: number, low: number): number {
    if (this.#size >= this.capacity) return -1;
    let slot = this.#home(high);
    while (this.isUsed(slot)) slot = this.#next(slot);
    const at = slot * WORDS_PER_SLOT;
    // Clear the second note: a thread that counted a query while names were moved may have written to this free slot.
    this.#words[at + 3] = 0;
    // Write the second half of the hash last, because it makes the name visible to other threads.
    this.#words[at] = high;
    Atomics.store(this.#words, at + 1, low);
    this.#size++;
    return slot;
  }

  /** Deletes the name in `slot` and moves names of later slots forward. `slot` may then contain another name. */
  delete(slot: number): void {
    const words = this.#words;
    Atomics.add(this.#version, 0, 1);
    let hole = slot;
    for (let next = this.#next(slot); this.isUsed(next); next = this.#next(next)) {
      const home = this.#home(this.high(next));
      const stays = hole <= next ? hole < home && home <= next : hole < home || home <= next;
      if (stays) continue;
      words.copyWithin(hole * WORDS_PER_SLOT, next * WORDS_PER_SLOT, (next + 1) * WORDS_PER_SLOT);
      this.#marks[hole] = this.mark(next);
      hole = next;
    }
    words.fill(0, hole * WORDS_PER_SLOT, (hole + 1) * WORDS_PER_SLOT);
    this.#marks[hole] = 0;
    Atomics.add(this.#version, 0, 1);
    this.#size--;
  }

  isUsed(slot: number): boolean {
    return this.#words[slot * WORDS_PER_SLOT] !== 0 || this.#words[slot * WORDS_PER_SLOT + 1] !== 0;
  }

  high(slot: number): number {
    return this.#words[slot * WORDS_PER_SLOT] ?? 0;
  }

  low(slot: number): number {
    return this.#words[slot * WORDS_PER_SLOT + 1] ?? 0;
  }

  firstNote(slot: number): number {
    return this.#words[slot * WORDS_PER_SLOT + 2] ?? 0;
  }

  secondNote(slot: number): number {
    return this.#words[slot * WORDS_PER_SLOT + 3] ?? 0;
  }

  setFirstNote(slot: number, note: number): void {
    this.#words[slot * WORDS_PER_SLOT + 2] = note;
  }

  /** Returns the mark of a slot: one byte of data, used only by the thread that inserts names. */
  mark(slot: number): number {
    return this.#marks[slot] ?? 0;
  }

  setMark(slot: number, mark: number): void {
    this.#marks[slot] = mark;
  }

  /** Replaces the second note of a slot. Returns false if it is not `expected`, because another thread changed it. */
  replaceSecondNote(slot: number, expected: number, note: number): boolean {
    return Atomics.compareExchange(this.#words, slot * WORDS_PER_SLOT + 3, expected, note) === expected;
  }

  /** Returns the slot at which the search for a name starts: the first half of the hash, scaled to the slot count. */
  #home(high: number): number {
    return Math.floor((high * this.slots) / TWO_TO_32);
  }

  #next(slot: number): number {
    return slot + 1 === this.slots ? 0 : slot + 1;
  }
}

const slotsFor = (capacity: number): number => Math.ceil(capacity / MAX_LOAD) + 1;
