import { encodeChunks } from './chunk/encode.ts';
import { partiesOf } from './parties.ts';
import { MAX_TRACES_PER_BLOCK, positionOf } from './position.ts';
import type { IndexedBlock, PostingTerm } from './store.ts';
import type { BlockHeader, Trace } from './trace.ts';

/** Makes a block and its checked traces ready to be written. Traces must be in the order in which they are served. */
export function indexBlock(header: BlockHeader, traces: readonly Trace[]): IndexedBlock {
  if (traces.length > MAX_TRACES_PER_BLOCK)
    throw new RangeError(
      `block ${header.number} has ${traces.length} traces, at most ${MAX_TRACES_PER_BLOCK} can be kept`,
    );

  const postings = {
    from: new Map<PostingTerm, number[]>(),
    to: new Map<PostingTerm, number[]>(),
    transaction: new Map<PostingTerm, number[]>(),
  };
  traces.forEach((trace, place) => {
    const position = positionOf(header.number, place);
    const { from, to } = partiesOf(trace);
    if (from !== null) add(postings.from, termOf(from), position);
    if (to !== null) add(postings.to, termOf(to), position);
    if (trace.transactionHash !== null && trace.traceAddress.length === 0)
      add(postings.transaction, termOf(trace.transactionHash), position);
  });

  const { number, hash, parentHash, timestamp } = header;
  return {
    block: { number, hash, parentHash, timestamp, traceCount: traces.length },
    chunks: encodeChunks(hash, traces),
    postings,
  };
}

/** What finds an address or a transaction's hash in the index: its first 20 bytes. */
export const termOf = (hex: string): PostingTerm => hex.slice(2, 42);

function add(lists: Map<PostingTerm, number[]>, term: PostingTerm, position: number): void {
  const list = lists.get(term);
  if (list === undefined) lists.set(term, [position]);
  else list.push(position);
}
