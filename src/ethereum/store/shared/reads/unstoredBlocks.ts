import {
  assertNotTooMany,
  type BlocksReader,
  type FilterOptions,
  type Hash,
  type HistoryPosition,
  type IndexedBlock,
  type PostingTerm,
  type Side,
  searchLimit,
  TRACES_PER_CHUNK,
  type TraceFilter,
  type TransactionLimits,
  traceIndexAt,
  transactionPositionOf,
} from '../../../traces/index.ts';
import type { TracePosition } from '../tables/position.ts';
import { Chunks } from './chunks.ts';
import { frameAsJson, tracesAsJson } from './writeTraces.ts';

type Place = Omit<TracePosition, 'write'>;

/** Reads blocks that are not stored. They are consecutive, and no block is unavailable. */
export class UnstoredBlocks implements BlocksReader {
  readonly #blocks: readonly IndexedBlock[];
  readonly #chunks = new Chunks();

  constructor(blocks: readonly IndexedBlock[]) {
    this.#blocks = blocks;
    for (const { block, chunks } of blocks)
      for (const [i, bytes] of chunks.entries()) this.#chunks.set(block.number, i, Buffer.from(bytes));
  }

  filter(filter: TraceFilter, maxBytes: number, { json }: FilterOptions = {}): Uint8Array | undefined {
    const { blockHash, after } = filter;
    if (blockHash !== undefined && this.#blocks[0]?.block.hash !== blockHash) return undefined;
    const matches = this.#blocks.flatMap((block) => matchesIn(block, filter));
    const places = matches.slice(after, after + searchLimit(filter));
    assertNotTooMany(filter, places.length);
    return tracesAsJson({ places, chunks: this.#chunks, maxBytes, json });
  }

  blockTraces(_: number, maxBytes: number): Buffer {
    return tracesAsJson({ places: this.#blocks.flatMap(placesIn), chunks: this.#chunks, maxBytes });
  }

  transactionTraces(hash: Hash, { maxBytes }: TransactionLimits): Buffer | undefined {
    const places = this.#tracesOf(hash).map(({ place }) => place);
    return places.length === 0 ? undefined : tracesAsJson({ places, chunks: this.#chunks, maxBytes });
  }

  transactionTrace(
    hash: Hash,
    traceAddress: readonly number[],
    { maxBytes }: TransactionLimits,
  ): Buffer | null | undefined {
    const traces = this.#tracesOf(hash);
    const [root] = traces;
    if (root === undefined) return undefined;
    const { number, traceIndex: first } = root.place;
    const range = { first, end: first + traces.length };
    const place = { transactionPosition: root.transactionPosition, traceAddress };
    return frameAsJson({ number, range, place, chunks: this.#chunks, maxBytes });
  }

  transactionPosition(hash: Hash): HistoryPosition | undefined {
    const place = this.#tracesOf(hash)[0]?.place;
    const block = this.#blocks.find(({ block: { number } }) => number === place?.number)?.block;
    return (
      place && block && { blockNumber: place.number, traceIndex: place.traceIndex, blockHash: block.hash }
    );
  }

  #tracesOf(hash: Hash): { place: Place; transactionPosition: number }[] {
    const bytes = Buffer.from(hash.slice(2), 'hex');
    return this.#blocks.flatMap(placesIn).flatMap((place) => {
      const chunk = this.#chunks.containing(place);
      const transactionPosition = transactionPositionOf(chunk, place.traceIndex % TRACES_PER_CHUNK, bytes);
      return transactionPosition === undefined ? [] : [{ place, transactionPosition }];
    });
  }
}

const placesIn = ({ block: { number, traceCount } }: IndexedBlock): Place[] =>
  Array.from({ length: traceCount }, (_, traceIndex) => ({ number, traceIndex }));

function matchesIn(block: IndexedBlock, { fromAddresses, toAddresses, mode }: TraceFilter): Place[] {
  const indexes = (side: Side, addresses: readonly PostingTerm[]): ReadonlySet<number> => {
    const { terms, positions } = block.postings[side];
    const wanted = new Set(addresses);
    return new Set(positions.filter((_, i) => wanted.has(terms[i] ?? '')).map(traceIndexAt));
  };
  const [from, to] = [indexes('from', fromAddresses), indexes('to', toAddresses)];
  const isMatch = (index: number): boolean => {
    const isFrom = from.has(index);
    const isTo = to.has(index);
    if (fromAddresses.length > 0 && toAddresses.length > 0 && mode === 'union') return isFrom || isTo;
    return (fromAddresses.length === 0 || isFrom) && (toAddresses.length === 0 || isTo);
  };
  return placesIn(block).filter(({ traceIndex }) => isMatch(traceIndex));
}
