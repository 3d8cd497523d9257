/**
 * Keyed, case-insensitive 64-bit hash of a domain name, computed as two 32-bit halves (lanes). Labels are hashed from
 * right to left, so that one pass yields the hash of each suffix, by which the zone of the name is looked up.
 */

/** Key of the hash: two unsigned 32-bit words. It is stored with the profile, whose hashes depend on it. */
export interface HashKey {
  readonly high: number;
  readonly low: number;
}

/** Multipliers of MurmurHash3 (x86, 128 bits): odd, well mixed, and fast as 32-bit integer products. */
const HIGH_MULTIPLIER = 0x85ebca6b;
const LOW_MULTIPLIER = 0xc2b2ae35;

export const mixHigh = (lane: number, byte: number): number => {
  const product = Math.imul(lane ^ byte, HIGH_MULTIPLIER);
  return product ^ (product >>> 15);
};

export const mixLow = (lane: number, byte: number): number => {
  const product = Math.imul(lane + byte, LOW_MULTIPLIER);
  return product ^ (product >>> 13);
};

/** Mixes the bits of a lane (MurmurHash3 finalizer), so that similar names do not get adjacent slots of a table. */
export const finalizeHash = (lane: number): number => {
  let value = lane ^ (lane >>> 16);
  value = Math.imul(value, 0x85ebca6b);
  value ^= value >>> 13;
  value = Math.imul(value, 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
};

const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
const CASE_BIT = 0x20;

/** Returns an ASCII letter in lower case, and any other byte unchanged. Names are case-insensitive (RFC 4343). */
export const lowerCase = (byte: number): number =>
  byte >= UPPER_A && byte <= UPPER_Z ? byte | CASE_BIT : byte;

/** Returns a hash of the client network (IPv4 /24, IPv6 /56) of an address, which is given as text. */
export const networkHash = (address: string): number => {
  const end = address.includes(':') ? ipv6NetworkEnd(address) : address.lastIndexOf('.');
  let hash = 0x811c9dc5;
  for (let i = 0; i < end; i++) hash = Math.imul(hash ^ address.charCodeAt(i), 0x01000193);
  return finalizeHash(hash);
};

/** Returns how many characters of an IPv6 address are its /56 network: 3 groups, and the 4th without 2 digits. */
const ipv6NetworkEnd = (address: string): number => {
  let groups = 0;
  for (let i = 0; i < address.length; i++) {
    if (address[i] !== ':') continue;
    if (++groups === 4) return address[i - 2] === ':' ? i - 1 : i - 2;
    // `::` stands for groups of zeros, so the rest of the network is zero.
    if (address[i + 1] === ':') return i;
  }
  return address.length;
};
