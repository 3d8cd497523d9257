export const HASH_KEY_BYTES = 8;

const rotated = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

/**
 * HalfSipHash-2-4 with 32 bits. Its secret key prevents that attackers choose many addresses that share one bucket.
 */
export class HalfSipHash {
  readonly #key0: number;
  readonly #key1: number;

  constructor(key: Buffer) {
    this.#key0 = key.readInt32LE(0);
    this.#key1 = key.readInt32LE(4);
  }

  /** Hashes `length` bytes from `at` on. `length` must be a multiple of four. */
  of(bytes: Uint8Array, at: number, length: number): number {
    let v0 = this.#key0;
    let v1 = this.#key1;
    let v2 = 0x6c796765 ^ v0;
    let v3 = 0x74656462 ^ v1;
    // The rounds process the input words, then a word with the length, then the finalisation.
    for (let i = 0; i <= length + 4; i += 4) {
      const isEnd = i > length;
      const word = i < length ? wordAt(bytes, at + i) : isEnd ? 0 : length << 24;
      if (isEnd) v2 ^= 0xff;
      v3 ^= word;
      for (let round = isEnd ? 4 : 2; round > 0; round--) {
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
      }
      v0 ^= word;
    }
    return (v1 ^ v3) >>> 0;
  }
}

const wordAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at] ?? 0) |
  ((bytes[at + 1] ?? 0) << 8) |
  ((bytes[at + 2] ?? 0) << 16) |
  ((bytes[at + 3] ?? 0) << 24);
