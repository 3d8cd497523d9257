import { encodeChunks } from './chunk/encode.ts';
import { TRACES_PER_CHUNK } from './chunk/format.ts';
import { visitTerms } from './chunk/visitTerms.ts';
import { partiesOf } from './parties.ts';
import { MAX_TRACES_PER_BLOCK, positionOf } from './position.ts';
import type { IndexedBlock, Postings, PostingTerm, StoredBlock, TraceFailure } from './store.ts';
import type { BlockHeader, Trace } from './trace.ts';

const TERM_BYTES = 20;
/** Number of characters of a term: `0x` and the hex digits of its bytes. */
const TERM_LENGTH = 2 + 2 * TERM_BYTES;

/** Prepares a block and its validated traces for storage. Traces must be in canonical order. */
export function indexBlock(header: BlockHeader, traces: readonly Trace[]): IndexedBlock {
  if (traces.length > MAX_TRACES_PER_BLOCK)
    throw new RangeError(
      `block ${header.number} has ${traces.length} traces, at most ${MAX_TRACES_PER_BLOCK} are supported`,
    );

  const postings = newPostings();
  let position = positionOf(header.number, 0);
  for (const trace of traces) {
    const { from, to } = partiesOf(trace);
    if (from !== null) postings.from.add(from, position);
    if (to !== null) postings.to.add(to, position);
    if (trace.transactionHash !== null && trace.traceAddress.length === 0)
      postings.transaction.add(termOf(trace.transactionHash), position);
    position++;
  }

  const { number, hash, parentHash, timestamp } = header;
  return {
    block: { number, hash, parentHash, timestamp, traceCount: traces.length },
    chunks: encodeChunks(hash, traces),
    postings,
  };
}

/** Prepares a block of an index for storage in another one. Returns the same as `indexBlock` for the block's traces. */
export function indexChunks(block: StoredBlock, chunks: readonly Buffer[]): IndexedBlock {
  const postings = newPostings();
  for (let first = 0; first < block.traceCount; first += TRACES_PER_CHUNK) {
    const chunk = chunks[first / TRACES_PER_CHUNK];
    if (chunk === undefined) throw new RangeError(`block ${block.number} lacks a chunk of its traces`);
    visitTerms(chunk, (side, at, index) => {
      const term = `0x${chunk.toString('hex', at, at + TERM_BYTES)}`;
      postings[side].add(term, positionOf(block.number, first + index));
    });
  }
  return { block, chunks, postings };
}

/** Prepares a block for storage if no node could return its traces. */
export function indexUnavailable(header: BlockHeader, unavailable: TraceFailure): IndexedBlock {
  const { block, chunks, postings } = indexBlock(header, []);
  return { block: { ...block, unavailable }, chunks, postings };
}

/** Returns the index term of an address or a transaction hash: its first 20 bytes. */
export const termOf = (hex: string): PostingTerm =>
  hex.length === TERM_LENGTH ? hex : hex.slice(0, TERM_LENGTH);

const newPostings = () => ({
  from: new PostingCollector(),
  to: new PostingCollector(),
  transaction: new PostingCollector(),
});

class PostingCollector implements Postings {
  readonly terms: PostingTerm[] = [];
  readonly positions: number[] = [];

  add(term: PostingTerm, position: number): void {
    this.terms.push(term);
    this.positions.push(position);
  }
}
