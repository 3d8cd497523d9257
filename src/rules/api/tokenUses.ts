import { LastUses } from '../../platform/lastUses/index.ts';
import { type TokenStore, timestampOfMillis } from '../index.ts';

/** Tokens whose requests are counted; those of further ones are not. */
const MAX_COUNTED = 10_000;

/** Requests with a token since the start. */
export interface RequestsOfToken {
  readonly count: number;
  /** Of these, those that were refused: not allowed, over the rate, or with a token that is not valid any more. */
  readonly refused: number;
}

const NONE: RequestsOfToken = { count: 0, refused: 0 };

/** What another process has counted of a token. */
export interface TakenRequests extends RequestsOfToken {
  /** It was valid at least once. */
  readonly isUsed: boolean;
}

/** What tokens are used for: when last, and how often. */
export class TokenUses {
  readonly #last: LastUses;
  readonly #requests = new Map<string, { count: number; refused: number; isUsed: boolean }>();

  constructor(tokens: Pick<TokenStore, 'lastUses' | 'noteUses'>) {
    this.#last = new LastUses({ timestampOf: timestampOfMillis }, tokens);
  }

  /** A request came with a token that is valid. */
  used(id: string): void {
    this.#last.used(id);
    const requests = this.#countedOf(id);
    if (!requests) return;
    requests.count++;
    requests.isUsed = true;
  }

  /** A request came with one that is not. */
  refused(id: string): void {
    const requests = this.#countedOf(id);
    if (!requests) return;
    requests.count++;
    requests.refused++;
  }

  /** A request that was counted as one of a valid token was not allowed. */
  notAllowed(id: string): void {
    const requests = this.#requests.get(id);
    if (requests) requests.refused++;
  }

  lastUses(): Promise<ReadonlyMap<string, string>> {
    return this.#last.all();
  }

  requestsOf(id: string): RequestsOfToken {
    const { count, refused } = this.#requests.get(id) ?? NONE;
    return { count, refused };
  }

  /** What was counted here and not taken before. */
  take(): ReadonlyMap<string, TakenRequests> {
    const taken = new Map(this.#requests);
    this.#requests.clear();
    return taken;
  }

  /** What another process has taken of its own. */
  add(taken: ReadonlyMap<string, TakenRequests>): void {
    for (const [id, { count, refused, isUsed }] of taken) {
      if (isUsed) this.#last.used(id);
      const requests = this.#countedOf(id);
      if (!requests) continue;
      requests.count += count;
      requests.refused += refused;
    }
  }

  stop(): Promise<void> {
    return this.#last.stop();
  }

  #countedOf(id: string): { count: number; refused: number; isUsed: boolean } | undefined {
    const known = this.#requests.get(id);
    if (known !== undefined || this.#requests.size >= MAX_COUNTED) return known;
    const made = { count: 0, refused: 0, isUsed: false };
    this.#requests.set(id, made);
    return made;
  }
}
