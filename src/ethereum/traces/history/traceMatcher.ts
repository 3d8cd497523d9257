import type { TraceAttributes } from '../chunk/attributes.ts';
import { FilterMatcher } from './filterMatcher.ts';
import type { HistoryFilter } from './query.ts';
import { COST, type HistoryReader, type WorkBudget } from './reader.ts';

/** Matches stored traces against a filter. Reads the value of a trace only if its attributes do not decide. */
export class TraceMatcher {
  readonly #reader: HistoryReader;
  readonly #work: WorkBudget;
  readonly #matcher: FilterMatcher;
  #blockNumber = -1;
  #attributes: ArrayLike<TraceAttributes> = [];

  constructor(filter: HistoryFilter, reader: HistoryReader, work: WorkBudget) {
    this.#reader = reader;
    this.#work = work;
    this.#matcher = new FilterMatcher(filter);
  }

  matches(blockNumber: number, traceIndex: number): boolean {
    if (this.#matcher.isOpen) return true;
    const verdict = this.#matcher.byAttributes(this.attributesOf(blockNumber, traceIndex));
    return verdict ?? this.#matcher.byValue(this.valueAt(blockNumber, traceIndex));
  }

  attributesOf(blockNumber: number, traceIndex: number): TraceAttributes {
    if (blockNumber !== this.#blockNumber) {
      this.#work.spend(COST.attributes);
      this.#attributes = this.#reader.attributes(blockNumber);
      this.#blockNumber = blockNumber;
    }
    return this.#attributes[traceIndex] ?? 0;
  }

  valueAt(blockNumber: number, traceIndex: number): bigint {
    this.#work.spend(COST.chunk);
    return this.#reader.value(blockNumber, traceIndex);
  }
}
