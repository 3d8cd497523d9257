/**
 * An exact set of 64-bit name hashes with 72 bits of notes each: open addressing with linear probing in one
 * typed array of a size fixed at the start. It allocates nothing afterwards and never stops to grow.
 * It lies in shared memory: one thread puts names in and takes them out, any thread finds them.
 */

/** hash high, hash low, and two words of notes. */
const WORDS_PER_SLOT = 4;
const BYTES_PER_SLOT = WORDS_PER_SLOT * 4;
/** Behind the slots: a number that is odd while names move. Behind that, a byte of each slot that finding needs not. */
const VERSION_BYTES = 4;
/** Fullness at capacity: 21.25 bytes a name, and a miss looks at 13 slots (four cache lines) on average. */
const MAX_LOAD = 0.8;
const TWO_TO_32 = 2 ** 32;

export class NameTable {
  /** The most names it holds. */
  readonly capacity: number;
  readonly slots: number;
  readonly #words: Uint32Array;
  readonly #version: Int32Array;
  readonly #marks: Uint8Array;
  #size = 0;

  /** A table in the memory of another one is for finding, and does not know its size. */
  constructor(capacity: number, memory = new SharedArrayBuffer(NameTable.bytesFor(capacity))) {
    this.capacity = capacity;
    this.slots = slotsFor(capacity);
    this.#words = new Uint32Array(memory, 0, this.slots * WORDS_PER_SLOT);
    this.#version = new Int32Array(memory, this.slots * BYTES_PER_SLOT, 1);
    this.#marks = new Uint8Array(memory, this.slots * BYTES_PER_SLOT + VERSION_BYTES, this.slots);
  }

  /** The memory that a table for so many names takes. */
  static bytesFor(capacity: number): number {
    return slotsFor(capacity) * (BYTES_PER_SLOT + 1) + VERSION_BYTES;
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return NameTable.bytesFor(this.capacity);
  }

  /** The slot of a name, -1 when it is not in the table. While another thread moves names it looks again. */
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

  /** Puts a name that is not in the table; its notes are zero. Returns its slot, -1 when the table is full. */
  insert(high: number, low: number): number {
    if (this.#size >= this.capacity) return -1;
    let slot = this.#home(high);
    while (this.isUsed(slot)) slot = this.#next(slot);
    const at = slot * WORDS_PER_SLOT;
    // A thread that counted a query for a name that has moved may have left a note here.
    this.#words[at + 3] = 0;
    // The second half of the hash makes it this name and no other: it is written last.
    this.#words[at] = high;
    Atomics.store(this.#words, at + 1, low);
    this.#size++;
    return slot;
  }

  /** Takes the name in `slot` out. Names behind it move up, so that no probe ends early: `slot` may be used again. */
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

  /** A byte of notes for the thread that puts names in. */
  mark(slot: number): number {
    return this.#marks[slot] ?? 0;
  }

  setMark(slot: number, mark: number): void {
    this.#marks[slot] = mark;
  }

  /** False, and nothing is changed, when it is not `expected` any more: another thread was faster. */
  replaceSecondNote(slot: number, expected: number, note: number): boolean {
    return Atomics.compareExchange(this.#words, slot * WORDS_PER_SLOT + 3, expected, note) === expected;
  }

  /** Where a name belongs: the hash as a fraction of the table, so that any size will do. */
  #home(high: number): number {
    return Math.floor((high * this.slots) / TWO_TO_32);
  }

  #next(slot: number): number {
    return slot + 1 === this.slots ? 0 : slot + 1;
  }
}

const slotsFor = (capacity: number): number => Math.ceil(capacity / MAX_LOAD) + 1;
