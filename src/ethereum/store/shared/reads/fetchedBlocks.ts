import type { FetchBlocks } from '../../../traces/index.ts';
import type { UnprovenRead } from '../connection/failures.ts';
import type { BlockRow } from '../tables/blockRow.ts';
import { eachParty, partyRows, selectParties, termIn, writeOf } from '../tables/rows.ts';
import { columnsOf } from '../tables/tables.ts';
import { Chunks } from './chunks.ts';

/** Maximum number of blocks that are fetched for one read and not stored. It bounds the memory of the read. */
const MAX_FETCHED_BLOCKS = 16;

/** Blocks of nodes that replace blocks which the shared index lacks or does not prove. They belong to one read. */
export class FetchedBlocks {
  readonly chunks = new Chunks();
  readonly #chain: bigint;
  readonly #fetch: FetchBlocks | undefined;
  readonly #rows = new Map<number, BlockRow>();
  /** Rows of `trace_parties`. */
  readonly #parties: Buffer[] = [];

  /** Without `fetch`, no blocks are fetched. */
  constructor(chain: bigint, fetch?: FetchBlocks) {
    this.#chain = chain;
    this.#fetch = fetch;
  }

  /** Returns whether blocks that a read needs are known, are not fetched yet, and are not too many. */
  mayAdd(wanted: readonly number[]): boolean {
    const { length } = this.#new(wanted);
    return this.#fetch !== undefined && length > 0 && this.#rows.size + length <= MAX_FETCHED_BLOCKS;
  }

  /** Fetches blocks that a read needs. */
  async add(wanted: readonly number[]): Promise<void> {
    const fetched = ((await this.#fetch?.(this.#new(wanted))) ?? []).map((block) => writeOf(block));
    for (const { block, row } of fetched) {
      for (const [i, bytes] of block.chunks.entries()) this.chunks.set(row.number, i, Buffer.from(bytes));
      this.#rows.set(row.number, row);
    }
    for (const party of eachParty(partyRows(this.#chain, fetched))) this.#parties.push(party);
  }

  #new(wanted: readonly number[]): number[] {
    return wanted.filter((number) => !this.has(number)).sort((a, b) => a - b);
  }

  has(blockNumber: number): boolean {
    return this.#rows.has(blockNumber);
  }

  /** Returns the errors that the fetched blocks do not remove. */
  unsolved(errors: readonly UnprovenRead[]): UnprovenRead[] {
    return errors.filter(({ blocks }) => !blocks.every((number) => this.has(number)));
  }

  get rows(): BlockRow[] {
    return [...this.#rows.values()];
  }

  /** Returns the rows of `trace_parties` that have one of the given terms. */
  parties(terms: readonly string[]): Buffer[] {
    const wanted = new Set(terms);
    return this.#parties.filter((row) => wanted.has(termIn(row)));
  }
}

/**
 * SQL: the rows of `trace_parties` that meet a condition, to be selected from. Fetched blocks replace those of the host.
 * The condition allows only the given addresses, or starts of transaction hashes, of 40 hex digits.
 */
export function partiesWhere(condition: string, fetched: FetchedBlocks, terms: readonly string[]): string {
  const stored = `trace_parties WHERE chain = {chain:UInt64} AND ${condition}`;
  const replaced = fetched.rows.map(({ number }) => number);
  if (replaced.length === 0) return stored;
  const columns = columnsOf('trace_parties');
  return `(SELECT ${columns} FROM ${stored} AND number NOT IN (${replaced.join(', ')}) UNION ALL
    SELECT ${columns} FROM (${selectParties(fetched.parties(terms))}) WHERE ${condition})`;
}
