/**
 * The keyed 64-bit hash under which the guard knows a name: two 32-bit lanes over the labels from the root
 * leftwards, without regard to case. Hashing from the right gives the hash of every suffix on the way, which
 * is how the zone of a name is found without a second pass.
 */

/** Two unsigned 32-bit words. Kept with a stored profile: hashes made under another key mean nothing. */
export interface HashKey {
  readonly high: number;
  readonly low: number;
}

/** Multipliers of MurmurHash3 (x86, 128 bits): odd, well mixed, and fast as 32-bit integer products. */
const HIGH_MULTIPLIER = 0x85ebca6b;
const LOW_MULTIPLIER = 0xc2b2ae35;

/** One more byte of a name in the high lane. */
export const mixHigh = (lane: number, byte: number): number => {
  const product = Math.imul(lane ^ byte, HIGH_MULTIPLIER);
  return product ^ (product >>> 15);
};

/** One more byte of a name in the low lane. */
export const mixLow = (lane: number, byte: number): number => {
  const product = Math.imul(lane + byte, LOW_MULTIPLIER);
  return product ^ (product >>> 13);
};

/** Spreads a lane over all 32 bits (the finalizer of MurmurHash3): neighbours in the table must not be siblings in the zone. */
export const finish = (lane: number): number => {
  let value = lane ^ (lane >>> 16);
  value = Math.imul(value, 0x85ebca6b);
  value ^= value >>> 13;
  value = Math.imul(value, 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
};

const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
const CASE_BIT = 0x20;

/** ASCII lower case of one byte: names that differ only in case are one name (RFC 4343). */
export const lowerCase = (byte: number): number =>
  byte >= UPPER_A && byte <= UPPER_Z ? byte | CASE_BIT : byte;

/** The hash of a client's network: /24 of an IPv4 address, /56 of an IPv6 one, of its textual form. */
export const networkHash = (address: string): number => {
  const end = address.includes(':') ? ipv6NetworkEnd(address) : address.lastIndexOf('.');
  let hash = 0x811c9dc5;
  for (let i = 0; i < end; i++) hash = Math.imul(hash ^ address.charCodeAt(i), 0x01000193);
  return finish(hash);
};

/** /56 is three groups and a half; the textual form is cut in front of the last two digits of the fourth group. */
const ipv6NetworkEnd = (address: string): number => {
  let groups = 0;
  for (let i = 0; i < address.length; i++) {
    if (address[i] !== ':') continue;
    if (++groups === 4) return address[i - 2] === ':' ? i - 1 : i - 2;
    // All groups that follow in the network are zero.
    if (address[i + 1] === ':') return i;
  }
  return address.length;
};
