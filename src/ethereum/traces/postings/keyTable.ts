import { randomInt } from 'node:crypto';

const INITIAL_KEYS = 1024;
/** More than any blocks that are kept in memory at a time have. */
export const MAX_KEYS = 2 ** 27;
/** The multiplier of the hash FNV-1a of 32 bits. */
const FNV_PRIME = 0x01000193;

/** Numbers keys, which are bytes of one length, from 0 on in the order in which they come. */
export class KeyTable {
  readonly #keyBytes: number;
  /** Addresses can be chosen by whoever wants long ways through the table: this they do not know. */
  readonly #seed = randomInt(2 ** 32);
  #keys: Uint8Array<ArrayBuffer>;
  /** Numbers of keys and one, by the hash of the keys; 0 where there is none. Half of it is empty at least. */
  #table = new Uint32Array(2 * INITIAL_KEYS);
  #length = 0;

  constructor(keyBytes: number) {
    this.#keyBytes = keyBytes;
    this.#keys = new Uint8Array(INITIAL_KEYS * keyBytes);
  }

  /** How many keys there are. */
  get length(): number {
    return this.#length;
  }

  /** The number of the key that stands at `at` of `bytes`; undefined where it is not here. */
  find(bytes: Uint8Array, at: number): number | undefined {
    const number = (this.#table[this.#slotOf(bytes, at)] ?? 0) - 1;
    return number === -1 ? undefined : number;
  }

  /** The same, after the key was added where it was not here: its number is the highest then. */
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

  /** A key, as bytes that are good until another is added. */
  keyOf(number: number): Uint8Array {
    return this.#keys.subarray(number * this.#keyBytes, (number + 1) * this.#keyBytes);
  }

  /** A byte of a key. */
  byteOf(number: number, index: number): number {
    return this.#keys[number * this.#keyBytes + index] ?? 0;
  }

  #grow(): void {
    if (2 * this.#length > MAX_KEYS) throw new RangeError(`more than ${MAX_KEYS} keys of blocks in memory`);
    this.#keys = doubled(this.#keys);
    this.#table = new Uint32Array(2 * this.#table.length);
    for (let number = 0; number < this.#length; number++)
      this.#table[this.#slotOf(this.#keys, number * this.#keyBytes)] = number + 1;
  }

  /** Where in the table the key at `at` of `bytes` stands, or would. */
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

/** The same numbers, with as much room behind them. */
export function doubled<A extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(numbers: A): A {
  const larger = new (numbers.constructor as new (length: number) => A)(2 * numbers.length);
  larger.set(numbers);
  return larger;
}
