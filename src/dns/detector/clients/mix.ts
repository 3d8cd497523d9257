/** Mixes a word into a hash, like MurmurHash3. If a secret key is mixed in, clients cannot choose their hash. */
export function mix(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x85ebca6b);
  const mixed = Math.imul(product ^ (product >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
