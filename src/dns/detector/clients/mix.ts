/** A round of MurmurHash3. With a key that nobody outside knows, nobody chooses the place that a client falls into. */
export function mix(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x85ebca6b);
  const mixed = Math.imul(product ^ (product >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
