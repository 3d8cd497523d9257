/** One MurmurHash3 round. With a secret key mixed in, clients cannot choose their slot of a hash table. */
export function mix(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x85ebca6b);
  const mixed = Math.imul(product ^ (product >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
