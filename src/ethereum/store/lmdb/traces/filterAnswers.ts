import {
  type Awaitable,
  findMatches,
  type JsonWriter,
  type SegmentMatches,
  type TraceFilter,
  visitMatches,
  WorkLeft,
} from '../../../traces/index.ts';
import type { AnswerWriter } from './answerWriter.ts';
import type { IndexState } from './indexState.ts';
import type { Turns } from './turns.ts';

/** A search that walks no more positions than this, or does as much of something else, is done at once. */
const WORK_AT_ONCE = 4_096;
/** Further ones go on by so much in each turn, which holds the thread for a millisecond or two. */
const WORK_PER_TURN = 8_192;

export interface FilterAnswersOptions {
  /** How much a search does before others have their turn; left out: what holds the thread for a millisecond or two. */
  readonly workPerTurn?: number | undefined;
}

export interface FilterAnswersDependencies {
  /** The state as it is now, for the synchronous code that follows. */
  readonly current: () => IndexState;
  readonly answers: AnswerWriter;
  readonly turns: Turns;
  /** Where answers are written that are copied. */
  readonly json: JsonWriter;
}

/** Where an answer goes, and how large it may get. */
interface Target {
  readonly maxBytes: number;
  readonly json: JsonWriter | undefined;
}

/** Answers filters: at once where that takes little, else a part of the search in each turn of the event loop. */
export class FilterAnswers {
  readonly #workAtOnce: number;
  readonly #workPerTurn: number;
  readonly #dependencies: FilterAnswersDependencies;

  constructor({ workPerTurn }: FilterAnswersOptions, dependencies: FilterAnswersDependencies) {
    this.#workAtOnce = workPerTurn ?? WORK_AT_ONCE;
    this.#workPerTurn = workPerTurn ?? WORK_PER_TURN;
    this.#dependencies = dependencies;
  }

  /** The matching traces as a JSON array; undefined where a block is missing, or where blocks were replaced meanwhile. */
  filter(filter: TraceFilter, target: Target): Awaitable<Buffer | undefined> {
    const state = this.#dependencies.current();
    if (state.firstMissing(filter.fromBlock, filter.toBlock) !== undefined) return undefined;
    const work = new WorkLeft(this.#workAtOnce);
    const search = findMatches(state, filter, work);
    const step = search.next();
    return step.done ? this.#written(step.value, target) : this.#goOn(search, { work, target });
  }

  async #goOn(
    search: ReturnType<typeof findMatches>,
    { work, target }: { readonly work: WorkLeft; readonly target: Target },
  ): Promise<Buffer | undefined> {
    const { current, turns } = this.#dependencies;
    const { epoch } = current();
    for (;;) {
      await turns.next();
      // Positions may mean other traces now.
      if (current().epoch !== epoch) return undefined;
      work.renew(this.#workPerTurn);
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
