import { type UserEnd, userEndOf } from '../detector/index.ts';

interface Waiting {
  readonly userZone: number;
  readonly sinceMs: number;
  readonly unlessAnswered: UserEnd;
}

/**
 * Users' queries (for known names) that wait for an answer. Data planes use this class if a query and its answer
 * arrive in separate messages, and count the outcome of each query.
 */
export class PendingUserQueries {
  readonly #waiting = new Map<string, Waiting>();
  readonly #max: number;
  readonly #count: (userZone: number, end: UserEnd) => void;

  /** Stores at most `max` queries. A further query evicts the oldest one. `count` receives each query's outcome. */
  constructor(max: number, count: (userZone: number, end: UserEnd) => void) {
    this.#max = max;
    this.#count = count;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Adds a query. Its answer must have the same `key`. Does nothing if `userZone` is 0, i.e. for other queries. */
  add(key: string, waiting: Waiting): void {
    if (waiting.userZone === 0) return;
    const repeated = this.#waiting.get(key);
    if (repeated !== undefined) this.#giveUp(key, repeated);
    this.#waiting.set(key, waiting);
    if (this.#waiting.size <= this.#max) return;
    for (const [oldest, given] of this.#waiting) return this.#giveUp(oldest, given);
  }

  answered(key: string, answer: Uint8Array): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    this.#waiting.delete(key);
    this.#count(waiting.userZone, userEndOf(answer));
  }

  /** Removes queries that were sent at `sinceMs` or earlier, and counts each with its outcome `unlessAnswered`. */
  expire(sinceMs: number): void {
    for (const [key, waiting] of this.#waiting) {
      if (waiting.sinceMs > sinceMs) return;
      this.#giveUp(key, waiting);
    }
  }

  #giveUp(key: string, { userZone, unlessAnswered }: Waiting): void {
    this.#waiting.delete(key);
    this.#count(userZone, unlessAnswered);
  }
}
