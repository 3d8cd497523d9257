import type { Database } from 'lmdb';
import { sideKey } from '../keys.ts';
import type { PartSide } from './parts.ts';

/** Number of database records that one read returns. It takes a third of a millisecond. */
const RECORDS_PER_READ = 256;

interface PostingRecord {
  readonly key: Buffer;
  readonly value: Buffer;
}

/**
 * Reads the pages of a segment's posting lists on one side (`from` or `to`), ordered by address. The reads can be
 * spread over many event loop ticks.
 */
export class SideRecords {
  readonly side: PartSide;
  readonly #postings: Database<Buffer, Buffer>;
  readonly #end: Buffer;
  /** Key at which the next read starts. Undefined if no records are left. */
  #start: Buffer | undefined;
  #records: PostingRecord[] = [];
  #at = 0;

  constructor(postings: Database<Buffer, Buffer>, segment: number, side: PartSide) {
    this.side = side;
    this.#postings = postings;
    this.#start = sideKey(segment, side);
    this.#end = sideKey(segment, side === 'from' ? 'to' : 'transaction');
  }

  get head(): PostingRecord | undefined {
    if (this.#at === this.#records.length) this.#read();
    return this.#records[this.#at];
  }

  next(): void {
    this.#at++;
  }

  #read(): void {
    if (this.#start === undefined) return;
    const range = { start: this.#start, end: this.#end, limit: RECORDS_PER_READ };
    this.#records = [...this.#postings.getRange(range)];
    this.#at = 0;
    const last = this.#records.at(-1);
    const isEnd = last === undefined || this.#records.length < RECORDS_PER_READ;
    // The lowest possible key after `last.key` is `last.key` with a zero byte appended.
    this.#start = isEnd ? undefined : Buffer.concat([last.key, Buffer.alloc(1)]);
  }
}
