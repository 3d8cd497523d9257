import { keccak_256 } from '@noble/hashes/sha3.js';

/** Maximum number of addresses and topics that are hashed. Each hash takes some 5 µs; the check must stay cheap. */
const MAX_HASHED_ENTRIES = 256;

const BLOOM_BYTES = 256;
/** Number of bits that an address or topic sets in the filter. Two bytes of its hash select each bit. */
const BITS_PER_ENTRY = 3;

export interface Bloom {
  readonly bits: Buffer;
  /** False if the logs have more than MAX_HASHED_ENTRIES different addresses and topics, so that bits are missing. */
  readonly isWhole: boolean;
}

/** Returns the bloom filter of logs (yellow paper, 4.3.1). Each different address and topic is hashed one time. */
export function bloomOf(logs: ReadonlyArray<Readonly<Record<string, unknown>>>): Bloom {
  const entries = new Set<unknown>();
  for (const { address, topics } of logs) {
    entries.add(address);
    if (Array.isArray(topics)) for (const topic of topics as readonly unknown[]) entries.add(topic);
    if (entries.size > MAX_HASHED_ENTRIES) break;
  }
  const bits = Buffer.alloc(BLOOM_BYTES);
  for (const entry of entries) addTo(bits, entry);
  return { bits, isWhole: entries.size <= MAX_HASHED_ENTRIES };
}

/** Returns true if all bits that are set in `bits` are also set in `bloom`. */
export const isWithin = (bits: Buffer, bloom: Buffer): boolean =>
  bits.every((byte, at) => (byte & ~(bloom[at] ?? 0)) === 0);

function addTo(bloom: Buffer, entry: unknown): void {
  const hash = keccak_256(Buffer.from(String(entry).slice(2), 'hex'));
  for (let i = 0; i < BITS_PER_ENTRY; i++) {
    const bit = (((hash[2 * i] ?? 0) << 8) | (hash[2 * i + 1] ?? 0)) & (BLOOM_BYTES * 8 - 1);
    const at = BLOOM_BYTES - 1 - (bit >> 3);
    bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7));
  }
}
