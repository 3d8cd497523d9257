/**
 * Hash table of known names: 64-bit name hashes with 72 bits of data each, open addressing with linear probing, in
 * shared memory of fixed size. One thread inserts and deletes names, any thread looks them up.
 */

/** Words per slot: two for the name's hash, and two for data (first and second note). */
const WORDS_PER_SLOT = 4;
const BYTES_PER_SLOT = WORDS_PER_SLOT * 4;
/** After the slots: a version, odd while names are moved; then one byte per slot (mark), which lookups ignore. */
const VERSION_BYTES = 4;
/** Maximum load. A name takes 21.25 bytes; lookups of unknown names probe 13 slots (four cache lines) on average. */
const MAX_LOAD = 0.8;
const TWO_TO_32 = 2 ** 32;

export class NameTable {
  readonly capacity: number;
  readonly slots: number;
  readonly #words: Uint32Array;
  readonly #version: Int32Array;
  readonly #marks: Uint8Array;
  #size = 0;

  /** A table with the `memory` of another table is only for lookups, because its `size` is not updated. */
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

  /** Returns the slot, or -1 if the name is unknown. Retries while another thread moves names. */
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

  /** Inserts a name that is not in the table, with notes 0. Returns the slot, or -1 if the table is full. */
  insert(high: number, low: number): number {
    if (this.#size >= this.capacity) return -1;
    let slot = this.#home(high);
    while (this.isUsed(slot)) slot = this.#next(slot);
    const at = slot * WORDS_PER_SLOT;
    // Clear the note, because a thread that counted a query during a move may have written to this free slot.
    this.#words[at + 3] = 0;
    // Write the second half of the hash last: only then can other threads find the name.
    this.#words[at] = high;
    Atomics.store(this.#words, at + 1, low);
    this.#size++;
    return slot;
  }

  /** Deletes the name in `slot` and moves later names up, so that `slot` may then contain another name. */
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

  /** Mark of a slot: one byte of data for the thread that inserts names. */
  mark(slot: number): number {
    return this.#marks[slot] ?? 0;
  }

  setMark(slot: number, mark: number): void {
    this.#marks[slot] = mark;
  }

  /** Replaces the second note if it equals `expected`. Returns false if another thread changed the note. */
  replaceSecondNote(slot: number, expected: number, note: number): boolean {
    return Atomics.compareExchange(this.#words, slot * WORDS_PER_SLOT + 3, expected, note) === expected;
  }

  /** Slot at which the search for a name starts: the hash, scaled to the number of slots. */
  #home(high: number): number {
    return Math.floor((high * this.slots) / TWO_TO_32);
  }

  #next(slot: number): number {
    return slot + 1 === this.slots ? 0 : slot + 1;
  }
}

const slotsFor = (capacity: number): number => Math.ceil(capacity / MAX_LOAD) + 1;
