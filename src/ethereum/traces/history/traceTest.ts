import type { TraceAttributes } from '../chunk/attributes.ts';
import { FilterTest } from './filterTest.ts';
import type { HistoryFilter } from './query.ts';
import { COST, type HistoryReader, type WorkLeft } from './reader.ts';

/** Whether traces are what a filter asks for: told by their attributes, and read only where their value is as long as the least. */
export class TraceTest {
  readonly #reader: HistoryReader;
  readonly #work: WorkLeft;
  readonly #test: FilterTest;
  #blockNumber = -1;
  #attributes: ArrayLike<TraceAttributes> = [];

  constructor(filter: HistoryFilter, reader: HistoryReader, work: WorkLeft) {
    this.#reader = reader;
    this.#work = work;
    this.#test = new FilterTest(filter);
  }

  passes(blockNumber: number, traceIndex: number): boolean {
    if (this.#test.isOpen) return true;
    const verdict = this.#test.byAttributes(this.attributesOf(blockNumber, traceIndex));
    return verdict ?? this.#test.byValue(this.valueAt(blockNumber, traceIndex));
  }

  attributesOf(blockNumber: number, traceIndex: number): TraceAttributes {
    if (blockNumber !== this.#blockNumber) {
      this.#work.spend(COST.attributes);
      this.#attributes = this.#reader.attributes(blockNumber, this.#work);
      this.#blockNumber = blockNumber;
    }
    return this.#attributes[traceIndex] ?? 0;
  }

  valueAt(blockNumber: number, traceIndex: number): bigint {
    this.#work.spend(COST.chunk);
    return this.#reader.value(blockNumber, traceIndex);
  }
}
