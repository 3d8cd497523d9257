import type { IndexedBlock } from '../../../traces/index.ts';

/**
 * The compression of chunks starts from a dictionary: the addresses that occur most in the blocks it is made from. A chunk
 * is too short to show what repeats from one transaction to the next; measured, the dictionary saves a fifth of the bytes.
 */

/** It is read anew for every chunk: four times as much makes the file smaller by one part in 160, and ingest slower by an eighth. */
const DICTIONARY_BYTES = 4 * 1024;
const ADDRESS_BYTES = 20;
/** Fewer traces say too little of what is usual on a chain. */
const MIN_TRACES = 2000;

/** A dictionary from blocks that are about to be written; undefined where they are too few. */
export function makeDictionary(blocks: readonly IndexedBlock[]): Buffer | undefined {
  const traces = blocks.reduce((sum, { block }) => sum + block.traceCount, 0);
  if (traces < MIN_TRACES) return undefined;
  const counts = new Map<string, number>();
  for (const { postings } of blocks)
    for (const side of [postings.from, postings.to])
      for (const address of side.terms) counts.set(address, (counts.get(address) ?? 0) + 1);
  const usual = [...counts]
    .filter(([, count]) => count > 1)
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, Math.floor(DICTIONARY_BYTES / ADDRESS_BYTES))
    .map(([address]) => address.slice(2));
  // LZ4 finds what stands last first.
  return Buffer.from(usual.reverse().join(''), 'hex');
}
