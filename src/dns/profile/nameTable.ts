/**
 * An exact set of 64-bit name hashes with 64 bits of notes each: open addressing with linear probing in one
 * typed array of a size fixed at the start. It allocates nothing afterwards and never stops to grow.
 */

/** hash high, hash low, and two words of notes. */
const WORDS_PER_SLOT = 4;
const BYTES_PER_SLOT = WORDS_PER_SLOT * 4;
/** Fullness at capacity: 20 bytes a name, and a miss looks at 13 slots (four cache lines) on average. */
const MAX_LOAD = 0.8;
const TWO_TO_32 = 2 ** 32;

export class NameTable {
  /** The most names it holds. */
  readonly capacity: number;
  readonly slots: number;
  readonly #words: Uint32Array;
  #size = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.slots = Math.ceil(capacity / MAX_LOAD) + 1;
    this.#words = new Uint32Array(this.slots * WORDS_PER_SLOT);
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.slots * BYTES_PER_SLOT;
  }

  /** The slot of a name, -1 when it is not in the table. */
  find(high: number, low: number): number {
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
    this.#words.set([high, low, 0, 0], at);
    this.#size++;
    return slot;
  }

  /** Takes the name in `slot` out. Names behind it move up, so that no probe ends early: `slot` may be used again. */
  delete(slot: number): void {
    const words = this.#words;
    let hole = slot;
    for (let next = this.#next(slot); this.isUsed(next); next = this.#next(next)) {
      const home = this.#home(this.high(next));
      const stays = hole <= next ? hole < home && home <= next : hole < home || home <= next;
      if (stays) continue;
      words.copyWithin(hole * WORDS_PER_SLOT, next * WORDS_PER_SLOT, (next + 1) * WORDS_PER_SLOT);
      hole = next;
    }
    words.fill(0, hole * WORDS_PER_SLOT, (hole + 1) * WORDS_PER_SLOT);
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

  setSecondNote(slot: number, note: number): void {
    this.#words[slot * WORDS_PER_SLOT + 3] = note;
  }

  /** Where a name belongs: the hash as a fraction of the table, so that any size will do. */
  #home(high: number): number {
    return Math.floor((high * this.slots) / TWO_TO_32);
  }

  #next(slot: number): number {
    return slot + 1 === this.slots ? 0 : slot + 1;
  }
}
