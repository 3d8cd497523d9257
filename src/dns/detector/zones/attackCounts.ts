import { AnswerKind } from '../../protocol/index.ts';
import type { ZoneCounts } from './baselines.ts';
import type { Refusals } from './sharedZone.ts';

/** Kinds of answers are below this (`AnswerKind`). */
const KINDS = AnswerKind.truncated + 1;
const NO_REFUSALS = { refused: 0, wouldRefuse: 0, known: 0 };

/** What came since it was taken the last time. */
export interface AttackedSeconds {
  readonly seconds: number;
  readonly queries: number;
  /** Of those, for names that are not known. */
  readonly unknown: number;
  /** Answers for known names that say that the name exists. */
  readonly knownAnswered: number;
  readonly refusals: Omit<Refusals, 'beyondUsual'>;
  /** Answers by their kind (`AnswerKind`), as many as there are of each. */
  readonly answers: readonly number[];
}

/** What is counted of a zone only while there is an attack to tell of. */
export class AttackCounts {
  #answers: Uint32Array | undefined;
  #knownAnswered = 0;
  #seconds = 0;
  #queries = 0;
  #unknown = 0;
  #refusals = NO_REFUSALS;

  noteAnswer(kind: number, isKnown: boolean): void {
    this.#answers ??= new Uint32Array(KINDS);
    this.#answers[kind] = (this.#answers[kind] ?? 0) + 1;
    const exists = kind === AnswerKind.records || kind === AnswerKind.noData || kind === AnswerKind.truncated;
    if (isKnown && exists) this.#knownAnswered++;
  }

  noteSecond({ seconds, queries, unknown }: ZoneCounts, { refused, wouldRefuse, known }: Refusals): void {
    const before = this.#refusals;
    this.#refusals = {
      refused: before.refused + refused,
      wouldRefuse: before.wouldRefuse + wouldRefuse,
      known: before.known + known,
    };
    this.#seconds += seconds;
    this.#queries += queries;
    this.#unknown += unknown;
  }

  take(): AttackedSeconds {
    const taken = {
      seconds: this.#seconds,
      queries: this.#queries,
      unknown: this.#unknown,
      knownAnswered: this.#knownAnswered,
      refusals: this.#refusals,
      answers: [...(this.#answers ?? [])],
    };
    this.#refusals = NO_REFUSALS;
    this.#answers?.fill(0);
    this.#seconds = 0;
    this.#queries = 0;
    this.#unknown = 0;
    this.#knownAnswered = 0;
    return taken;
  }
}
