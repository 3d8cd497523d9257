import { keccak_256 } from '@noble/hashes/sha3.js';

/** Each log costs some hashes of a few microseconds; above this a check is not cheap any more. */
export const MAX_CHECKED_LOGS = 64;

const BLOOM_BYTES = 256;
/** Bits of a bloom filter that one entry sets, each told by two bytes of its hash. */
const BITS_PER_ENTRY = 3;

/** The bloom filter of logs (yellow paper, 4.3.1), as 0x and 512 hex digits. */
export function bloomOf(logs: ReadonlyArray<Readonly<Record<string, unknown>>>): string {
  const bloom = Buffer.alloc(BLOOM_BYTES);
  for (const { address, topics } of logs) {
    addTo(bloom, address);
    if (Array.isArray(topics)) for (const topic of topics as readonly unknown[]) addTo(bloom, topic);
  }
  return `0x${bloom.toString('hex')}`;
}

function addTo(bloom: Buffer, entry: unknown): void {
  const hash = keccak_256(Buffer.from(String(entry).slice(2), 'hex'));
  for (let i = 0; i < BITS_PER_ENTRY; i++) {
    const bit = (((hash[2 * i] ?? 0) << 8) | (hash[2 * i + 1] ?? 0)) & (BLOOM_BYTES * 8 - 1);
    const at = BLOOM_BYTES - 1 - (bit >> 3);
    bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7));
  }
}
