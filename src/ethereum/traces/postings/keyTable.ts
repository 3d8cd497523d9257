import { randomInt } from 'node:crypto';

const INITIAL_KEYS = 1024;
/** Maximum number of keys in one table. The blocks that are kept in memory at a time have fewer. */
export const MAX_KEYS = 2 ** 27;
/** Prime of the 32-bit FNV-1a hash. */
const FNV_PRIME = 0x01000193;

/** Hash table that numbers keys of equal byte length from 0 on, in order of insertion. */
export class KeyTable {
  readonly #keyBytes: number;
  /** Random seed of the hash, so that clients cannot choose addresses that collide. */
  readonly #seed = randomInt(2 ** 32);
  #keys: Uint8Array<ArrayBuffer>;
  /** Open-addressing table: key number plus one, 0 for an empty slot. At least half of it is empty. */
  #table = new Uint32Array(2 * INITIAL_KEYS);
  #length = 0;

  constructor(keyBytes: number) {
    this.#keyBytes = keyBytes;
    this.#keys = new Uint8Array(INITIAL_KEYS * keyBytes);
  }

  get length(): number {
    return this.#length;
  }

  /** Returns the number of the key whose bytes start at offset `at` of `bytes`; undefined if the table lacks it. */
  find(bytes: Uint8Array, at: number): number | undefined {
    const number = (this.#table[this.#slotOf(bytes, at)] ?? 0) - 1;
    return number === -1 ? undefined : number;
  }

  /** Like `find`, but adds a key that the table lacks, with the next number. */
  findOrAdd(bytes: Uint8Array, at: number): number {
    let slot = this.#slotOf(bytes, at);
    const found = (this.#table[slot] ?? 0) - 1;
    if (found !== -1) return found;
    const number = this.#length;
    if (2 * number === this.#table.length) {
      this.#grow();
      slot = this.#slotOf(bytes, at);
    }
    this.#length++;
    const start = number * this.#keyBytes;
    for (let i = 0; i < this.#keyBytes; i++) this.#keys[start + i] = bytes[at + i] ?? 0;
    this.#table[slot] = number + 1;
    return number;
  }

  /** Returns the bytes of the key with a number. They are valid until another key is added. */
  keyOf(number: number): Uint8Array {
    return this.#keys.subarray(number * this.#keyBytes, (number + 1) * this.#keyBytes);
  }

  byteOf(number: number, index: number): number {
    return this.#keys[number * this.#keyBytes + index] ?? 0;
  }

  #grow(): void {
    if (2 * this.#length > MAX_KEYS) throw new RangeError(`more than ${MAX_KEYS} keys in memory`);
    this.#keys = doubled(this.#keys);
    this.#table = new Uint32Array(2 * this.#table.length);
    for (let number = 0; number < this.#length; number++)
      this.#table[this.#slotOf(this.#keys, number * this.#keyBytes)] = number + 1;
  }

  /** Returns the index of a key's slot in `#table`, or of the empty slot in which to store the key. */
  #slotOf(bytes: Uint8Array, at: number): number {
    let hash = this.#seed;
    for (let i = 0; i < this.#keyBytes; i++) hash = Math.imul(hash ^ (bytes[at + i] ?? 0), FNV_PRIME);
    const mask = this.#table.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const number = (this.#table[slot] ?? 0) - 1;
      if (number === -1 || this.#isKeyOf(number, bytes, at)) return slot;
    }
  }

  #isKeyOf(number: number, bytes: Uint8Array, at: number): boolean {
    const start = number * this.#keyBytes;
    for (let i = 0; i < this.#keyBytes; i++) if (this.#keys[start + i] !== bytes[at + i]) return false;
    return true;
  }
}

/** Returns a copy of an array with twice its length. The second half contains zeros. */
export function doubled<A extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(numbers: A): A {
  const larger = new (numbers.constructor as new (length: number) => A)(2 * numbers.length);
  larger.set(numbers);
  return larger;
}
