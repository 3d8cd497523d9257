import { setImmediate as afterPolling } from 'node:timers/promises';
import {
  type FilterOptions,
  findMatches,
  type JsonWriter,
  type MaybePromise,
  type SegmentMatches,
  segmentOf,
  type TraceFilter,
  visitMatches,
  WorkBudget,
} from '../../../traces/index.ts';
import type { IndexState, SegmentBlocks } from './indexState.ts';
import type { TraceArrayWriter } from './traceArrayWriter.ts';

/**
 * Maximum work of a search without a pause, which blocks the thread for about 1 ms. One unit of work is the time to read
 * one position of a posting list.
 */
const WORK_PER_TURN = 4_096;

export interface FilterRunnerOptions {
  readonly workPerTurn?: number | undefined;
}

export interface FilterRunnerDependencies {
  /** Returns the current state of the index. The caller may use it only until its next `await`. */
  readonly current: () => IndexState;
  readonly answers: TraceArrayWriter;
  /** Writer that is used if the caller passes none. The caller then gets a copy of the result. */
  readonly json: JsonWriter;
}

interface Target extends FilterOptions {
  readonly maxBytes: number;
}

interface StartedSearch {
  readonly work: WorkBudget;
  readonly target: Target;
  /** The segments of the search when it began. */
  readonly blocks: readonly SegmentBlocks[];
}

/** Runs trace filters: small searches synchronously, larger ones in several turns of the client. */
export class FilterRunner {
  readonly #workPerTurn: number;
  readonly #dependencies: FilterRunnerDependencies;

  constructor({ workPerTurn }: FilterRunnerOptions, dependencies: FilterRunnerDependencies) {
    this.#workPerTurn = workPerTurn ?? WORK_PER_TURN;
    this.#dependencies = dependencies;
  }

  /**
   * Returns the traces that match a filter, as a JSON array. Undefined if a block of the filter's range is missing or
   * unavailable, or was replaced during the search.
   */
  filter(filter: TraceFilter, target: Target): MaybePromise<Buffer | undefined> {
    const state = this.#dependencies.current();
    const { blockHash } = filter;
    if (blockHash !== undefined && state.block(filter.fromBlock)?.hash !== blockHash) return undefined;
    if (state.firstWithoutTraces(filter.fromBlock, filter.toBlock) !== undefined) return undefined;
    const work = new WorkBudget(this.#workPerTurn);
    const search = findMatches(state, filter, work);
    const step = search.next();
    if (step.done) return this.#written(step.value, target);
    const segments = [...new Set([filter.fromBlock, filter.toBlock].map(segmentOf))];
    const blocks = segments.map((segment) => state.blocksOf(segment));
    return this.#goOn(search, { work, target, blocks });
  }

  async #goOn(
    search: ReturnType<typeof findMatches>,
    { work, target, blocks }: StartedSearch,
  ): Promise<Buffer | undefined> {
    const { current } = this.#dependencies;
    const { nextTurn = afterPolling } = target;
    const { epoch } = current();
    for (;;) {
      await nextTurn();
      // If blocks were removed, or added before the last one of a segment, the positions that the search has collected
      // may belong to other traces.
      const state = current();
      if (state.epoch !== epoch || !blocks.every((some) => state.isOnlyAppended(some))) return undefined;
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
