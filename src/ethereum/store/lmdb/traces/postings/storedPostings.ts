import {
  positionOf,
  type StoredBlock,
  segmentOf,
  TRACES_PER_CHUNK,
  visitTerms,
} from '../../../../traces/index.ts';
import { postingKeyOf, SIDE_AND_TERM_BYTES, SIDES } from '../keys.ts';

export interface StoredChunks {
  chunk(blockNumber: number, traceIndex: number): Uint8Array;
}

/** Called for each posting of a block. `sideAndTerm` is valid until the callback returns. */
export type VisitPosting = (sideAndTerm: Buffer, position: number) => void;

const sideAndTerm = Buffer.alloc(SIDE_AND_TERM_BYTES);

/** Visits the postings of a block. `chunks` are the block's chunks with traces, in their order. */
export function visitPostings(blockNumber: number, chunks: Iterable<Uint8Array>, visit: VisitPosting): void {
  let first = 0;
  for (const chunk of chunks) {
    visitTerms(chunk, (side, at, index) => {
      sideAndTerm[0] = SIDES.indexOf(side);
      sideAndTerm.set(chunk.subarray(at, at + SIDE_AND_TERM_BYTES - 1), 1);
      visit(sideAndTerm, positionOf(blockNumber, first + index));
    });
    first += TRACES_PER_CHUNK;
  }
}

/** Yields the chunks with the traces of a block. Each is valid until the next one is read. */
export function* chunksWithTraces(
  { number, traceCount }: StoredBlock,
  stored: StoredChunks,
): Generator<Uint8Array> {
  for (let index = 0; index < traceCount; index += TRACES_PER_CHUNK) yield stored.chunk(number, index);
}

/** Returns the keys of the posting lists of blocks, each once, whether or not the list is on disk. */
export function postingKeysOf(blocks: readonly StoredBlock[], stored: StoredChunks): Iterable<Buffer> {
  const keys = new Map<string, Buffer>();
  for (const block of blocks)
    visitPostings(block.number, chunksWithTraces(block, stored), (sideAndTerm) => {
      const key = postingKeyOf(segmentOf(block.number), sideAndTerm);
      keys.set(key.toString('latin1'), key);
    });
  return keys.values();
}
