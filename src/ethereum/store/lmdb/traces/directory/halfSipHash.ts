/** Bytes of a key. */
export const HASH_KEY_BYTES = 8;

const rotated = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

/**
 * HalfSipHash-2-4 of 20 bytes, 32 bits: addresses can be chosen by whoever wants many of them in one place of a table, and this tells
 * nobody where they are who does not know the key.
 */
export class HalfSipHash {
  readonly #key0: number;
  readonly #key1: number;
  #v0 = 0;
  #v1 = 0;
  #v2 = 0;
  #v3 = 0;

  constructor(key: Buffer) {
    this.#key0 = key.readInt32LE(0);
    this.#key1 = key.readInt32LE(4);
  }

  /** Of the `length` bytes at `at`, a multiple of four. */
  of(bytes: Uint8Array, at: number, length: number): number {
    this.#v0 = this.#key0;
    this.#v1 = this.#key1;
    this.#v2 = 0x6c796765 ^ this.#key0;
    this.#v3 = 0x74656462 ^ this.#key1;
    for (let i = at; i < at + length; i += 4)
      this.#absorb(
        (bytes[i] ?? 0) |
          ((bytes[i + 1] ?? 0) << 8) |
          ((bytes[i + 2] ?? 0) << 16) |
          ((bytes[i + 3] ?? 0) << 24),
      );
    this.#absorb(length << 24);
    this.#v2 ^= 0xff;
    for (let round = 0; round < 4; round++) this.#round();
    return (this.#v1 ^ this.#v3) >>> 0;
  }

  #absorb(word: number): void {
    this.#v3 ^= word;
    this.#round();
    this.#round();
    this.#v0 ^= word;
  }

  #round(): void {
    let [v0, v1, v2, v3] = [this.#v0, this.#v1, this.#v2, this.#v3];
    v0 = (v0 + v1) | 0;
    v1 = rotated(v1, 5) ^ v0;
    v0 = rotated(v0, 16);
    v2 = (v2 + v3) | 0;
    v3 = rotated(v3, 8) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = rotated(v3, 7) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = rotated(v1, 13) ^ v2;
    v2 = rotated(v2, 16);
    this.#v0 = v0;
    this.#v1 = v1;
    this.#v2 = v2;
    this.#v3 = v3;
  }
}
