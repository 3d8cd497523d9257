import { AnswerKind } from '../../protocol/index.ts';
import type { UserQueries } from '../userEnd.ts';
import type { ZoneCounts } from './baselines.ts';
import type { Refusals } from './sharedZone.ts';

const KINDS = AnswerKind.badVersion + 1;
const NO_REFUSALS = { limited: 0, wouldDrop: 0, knownWouldDrop: 0 };
const NO_USERS: UserQueries = { answered: 0, limited: 0, unanswered: 0 };

/** Counts of a zone under a reported attack, since the previous {@link AttackCounts.take}. */
export interface AttackedSeconds {
  readonly seconds: number;
  readonly queries: number;
  readonly unknown: number;
  /** Number of queries for known names by outcome. Each query is counted in the second in which it ended. */
  readonly users: UserQueries;
  readonly refusals: Omit<Refusals, 'beyondUsual'>;
  /** Numbers of answers, indexed by `AnswerKind`. */
  readonly answers: readonly number[];
}

/** Sums the counts of a zone while an attack on the zone is reported. */
export class AttackCounts {
  #answers: Uint32Array | undefined;
  #seconds = 0;
  #queries = 0;
  #unknown = 0;
  #refusals = NO_REFUSALS;
  #users = NO_USERS;

  noteAnswer(kind: number): void {
    this.#answers ??= new Uint32Array(KINDS);
    this.#answers[kind] = (this.#answers[kind] ?? 0) + 1;
  }

  noteSecond({ seconds, queries, unknown }: ZoneCounts, refusals: Refusals, users: UserQueries): void {
    const before = this.#refusals;
    this.#refusals = {
      limited: before.limited + refusals.limited,
      wouldDrop: before.wouldDrop + refusals.wouldDrop,
      knownWouldDrop: before.knownWouldDrop + refusals.knownWouldDrop,
    };
    this.#users = {
      answered: this.#users.answered + users.answered,
      limited: this.#users.limited + users.limited,
      unanswered: this.#users.unanswered + users.unanswered,
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
      users: this.#users,
      refusals: this.#refusals,
      answers: [...(this.#answers ?? [])],
    };
    this.#refusals = NO_REFUSALS;
    this.#users = NO_USERS;
    this.#answers?.fill(0);
    this.#seconds = 0;
    this.#queries = 0;
    this.#unknown = 0;
    return taken;
  }
}
