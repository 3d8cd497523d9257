import {
  findMatches,
  type JsonWriter,
  type MaybePromise,
  type SegmentMatches,
  type TraceFilter,
  visitMatches,
  WorkBudget,
} from '../../../traces/index.ts';
import type { IndexState } from './indexState.ts';
import type { TickScheduler } from './tickScheduler.ts';
import type { TraceArrayWriter } from './traceArrayWriter.ts';

/** Maximum work of a search that runs without yielding. A unit is the time to read one position of a list. */
const SYNCHRONOUS_WORK = 4_096;
/** Work per tick of a longer search. It blocks the thread for 1 to 2 ms. */
const WORK_PER_TICK = 8_192;

export interface FilterRunnerOptions {
  readonly workPerTick?: number | undefined;
}

export interface FilterRunnerDependencies {
  /** Returns the current state of the index. Only the synchronous code that follows may use it. */
  readonly current: () => IndexState;
  readonly answers: TraceArrayWriter;
  readonly turns: TickScheduler;
  /** Writer for the results of callers that pass no writer. They get a copy. */
  readonly json: JsonWriter;
}

interface Target {
  readonly maxBytes: number;
  readonly json: JsonWriter | undefined;
}

/** Runs filters: small searches synchronously, larger ones spread over several event loop ticks. */
export class FilterRunner {
  readonly #workAtOnce: number;
  readonly #workPerTurn: number;
  readonly #dependencies: FilterRunnerDependencies;

  constructor({ workPerTick }: FilterRunnerOptions, dependencies: FilterRunnerDependencies) {
    this.#workAtOnce = workPerTick ?? SYNCHRONOUS_WORK;
    this.#workPerTurn = workPerTick ?? WORK_PER_TICK;
    this.#dependencies = dependencies;
  }

  /**
   * Returns matching traces as JSON. Undefined if a block is missing, unavailable, or was replaced during the search.
   */
  filter(filter: TraceFilter, target: Target): MaybePromise<Buffer | undefined> {
    const state = this.#dependencies.current();
    const { blockHash } = filter;
    if (blockHash !== undefined && state.block(filter.fromBlock)?.hash !== blockHash) return undefined;
    if (state.firstWithoutTraces(filter.fromBlock, filter.toBlock) !== undefined) return undefined;
    const work = new WorkBudget(this.#workAtOnce);
    const search = findMatches(state, filter, work);
    const step = search.next();
    return step.done ? this.#written(step.value, target) : this.#goOn(search, { work, target });
  }

  async #goOn(
    search: ReturnType<typeof findMatches>,
    { work, target }: { readonly work: WorkBudget; readonly target: Target },
  ): Promise<Buffer | undefined> {
    const { current, turns } = this.#dependencies;
    const { epoch } = current();
    for (;;) {
      await turns.next();
      // In another epoch, the positions found so far may belong to other traces.
      if (current().epoch !== epoch) return undefined;
      work.reset(this.#workPerTurn);
      const step = search.next();
      if (step.done) return this.#written(step.value, target);
    }
  }

  #written(matches: readonly SegmentMatches[], { maxBytes, json }: Target): Buffer {
    const { answers, json: copied } = this.#dependencies;
    const target = json ?? copied;
    answers.write(target, maxBytes, (visitor) => visitMatches(matches, visitor));
    return json === undefined ? target.copy() : target.written();
  }
}
