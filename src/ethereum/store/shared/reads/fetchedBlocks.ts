import {
  type BlockRange,
  type FetchBlocks,
  type PostingTerm,
  type Side,
  TRACES_PER_CHUNK,
  type TraceFilter,
  traceIndexAt,
  transactionPositionOf,
} from '../../../traces/index.ts';
import type { Parameters } from '../connection/clickHouse.ts';
import type { UnprovenRead } from '../connection/failures.ts';
import type { BlockRow } from '../tables/blockRow.ts';
import type { TracePosition } from '../tables/position.ts';
import { type BlockWrite, type Party, partiesOf, writeOf } from '../tables/rows.ts';
import { Chunks } from './chunks.ts';

/** Maximum number of blocks that are fetched for one read and not stored. It bounds the memory of the read. */
const MAX_FETCHED_BLOCKS = 16;

/** Blocks of nodes that replace blocks which the shared index lacks or does not prove. They belong to one read. */
export class FetchedBlocks {
  readonly chunks = new Chunks();
  readonly #fetch: FetchBlocks | undefined;
  /** Ascending. */
  #blocks: readonly BlockWrite[] = [];

  constructor(fetch: FetchBlocks | undefined) {
    this.#fetch = fetch;
  }

  /** Returns whether blocks that a read needs are known, are not fetched yet, and are not too many. */
  mayAdd(wanted: readonly number[]): boolean {
    const { length } = this.#new(wanted);
    return this.#fetch !== undefined && length > 0 && this.#blocks.length + length <= MAX_FETCHED_BLOCKS;
  }

  /** Fetches blocks that a read needs. */
  async add(wanted: readonly number[]): Promise<void> {
    const fetched = ((await this.#fetch?.(this.#new(wanted))) ?? []).map((block) => writeOf(block));
    for (const { block, row } of fetched)
      for (const [i, bytes] of block.chunks.entries()) this.chunks.set(row.number, i, Buffer.from(bytes));
    this.#blocks = [...this.#blocks, ...fetched].sort((a, b) => a.row.number - b.row.number);
  }

  #new(wanted: readonly number[]): number[] {
    return wanted.filter((number) => !this.has(number)).sort((a, b) => a - b);
  }

  has(blockNumber: number): boolean {
    return this.#blocks.some(({ row }) => row.number === blockNumber);
  }

  /** Returns the errors that the fetched blocks do not remove. */
  unsolved(errors: readonly UnprovenRead[]): UnprovenRead[] {
    return errors.filter(({ blocks }) => !blocks.every((number) => this.has(number)));
  }

  rows({ first = 0, last = Number.POSITIVE_INFINITY } = {}): BlockRow[] {
    return this.#blocks.map(({ row }) => row).filter(({ number }) => number >= first && number <= last);
  }

  /** SQL condition: the row does not belong to a fetched block. It needs `parameters`. */
  get condition(): string {
    return this.#blocks.length === 0 ? '' : ' AND number NOT IN {fetched:Array(UInt32)}';
  }

  get parameters(): Parameters {
    return this.#blocks.length === 0 ? {} : { fetched: this.rows().map(({ number }) => number) };
  }

  /** Returns the traces that match a filter with addresses. */
  matches({ fromBlock, toBlock, fromAddresses, toAddresses, mode }: TraceFilter): TracePosition[] {
    return this.rows({ first: fromBlock, last: toBlock }).flatMap(({ number, write }) => {
      const from = this.indexes(number, 'from', fromAddresses);
      const to = this.indexes(number, 'to', toAddresses);
      const isBoth = fromAddresses.length > 0 && toAddresses.length > 0 && mode !== 'union';
      const indexes = isBoth ? [...from].filter((index) => to.has(index)) : [...new Set([...from, ...to])];
      return indexes.sort((a, b) => a - b).map((traceIndex) => ({ number, traceIndex, write }));
    });
  }

  /** Returns the indexes of the traces of a block with one of the addresses on a side. */
  indexes(blockNumber: number, side: Side, addresses: readonly PostingTerm[]): ReadonlySet<number> {
    const { block } = this.#blocks.find(({ row }) => row.number === blockNumber) ?? {};
    const { terms = [], positions = [] } = block?.postings[side] ?? {};
    const wanted = new Set(addresses);
    return new Set(positions.filter((_, i) => wanted.has(terms[i] ?? '')).map(traceIndexAt));
  }

  /** Returns the rows by address of the fetched blocks of a range. */
  parties({ fromBlock, toBlock }: BlockRange): (Party & { readonly number: number })[] {
    return this.#blocks
      .filter(({ row: { number } }) => number >= fromBlock && number <= toBlock)
      .flatMap((one) => partiesOf(one).map((party) => ({ ...party, number: one.row.number })));
  }

  /** Returns the root frame of a transaction; undefined if no fetched block has it. */
  rootFrame(hash: Buffer): { block: BlockRow; traceIndex: number; transactionPosition: number } | undefined {
    for (const { row: block } of this.#blocks)
      for (let traceIndex = 0; traceIndex < block.traceCount; traceIndex++) {
        const chunk = this.chunks.containing({ number: block.number, traceIndex });
        const transactionPosition = transactionPositionOf(chunk, traceIndex % TRACES_PER_CHUNK, hash);
        if (transactionPosition !== undefined) return { block, traceIndex, transactionPosition };
      }
    return undefined;
  }
}
