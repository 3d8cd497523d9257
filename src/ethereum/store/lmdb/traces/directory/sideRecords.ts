import type { Database } from 'lmdb';
import { sideKey } from '../keys.ts';
import type { PartSide } from './parts.ts';

/** Read at a time: a third of a millisecond. */
const RECORDS_PER_READ = 256;

interface PostingRecord {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** The pages of one side of a segment's posting lists in the order of their addresses, read in as many turns as it takes. */
export class SideRecords {
  readonly side: PartSide;
  readonly #postings: Database<Buffer, Buffer>;
  readonly #end: Buffer;
  /** Where to read on; undefined where nothing is left. */
  #start: Buffer | undefined;
  #records: PostingRecord[] = [];
  #at = 0;

  constructor(postings: Database<Buffer, Buffer>, segment: number, side: PartSide) {
    this.side = side;
    this.#postings = postings;
    this.#start = sideKey(segment, side);
    this.#end = sideKey(segment, side === 'from' ? 'to' : 'transaction');
  }

  /** The record that is next; undefined behind the last one. */
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
    // No key stands between another and the same with a zero behind it.
    this.#start = isEnd ? undefined : Buffer.concat([last.key, Buffer.alloc(1)]);
  }
}
