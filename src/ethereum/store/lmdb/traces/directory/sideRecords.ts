import type { TraceEnvironment } from '../environment.ts';
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
  readonly #environment: TraceEnvironment;
  readonly #end: Buffer;
  /** Key at which the next read starts. Undefined if no records are left. */
  #start: Buffer | undefined;
  #records: PostingRecord[] = [];
  #at = 0;

  constructor(environment: TraceEnvironment, segment: number, side: PartSide) {
    this.side = side;
    this.#environment = environment;
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
    this.#records = [...this.#environment.range(this.#environment.postings, range)];
    this.#at = 0;
    const last = this.#records.at(-1);
    const isEnd = last === undefined || this.#records.length < RECORDS_PER_READ;
    // The lowest possible key after `last.key` is `last.key` with a zero byte appended.
    this.#start = isEnd ? undefined : Buffer.concat([last.key, Buffer.alloc(1)]);
  }
}
