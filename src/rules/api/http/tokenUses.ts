import { inBackground } from '../../../platform/background/index.ts';
import { LastUsedTracker } from '../../../platform/lastUses/index.ts';
import { type TokenStore, timestampOfMillis } from '../../index.ts';

/** Number of counted tokens at which the counts of removed tokens are forgotten. A store lists far fewer tokens. */
const MAX_COUNTED = 10_000;

export interface RequestsOfToken {
  readonly count: number;
  /** Number of rejected requests: forbidden, above the rate limit, or with an invalid token. Part of `count`. */
  readonly rejected: number;
}

const NONE: RequestsOfToken = { count: 0, rejected: 0 };

/** Counts the requests of each token and records the time of its last use. */
export class TokenUses {
  readonly #last: LastUsedTracker;
  readonly #tokens: Pick<TokenStore, 'list'>;
  #isForgetting = false;
  readonly #requests = new Map<string, { count: number; rejected: number }>();

  constructor(tokens: Pick<TokenStore, 'lastUses' | 'noteUses' | 'list'>) {
    this.#tokens = tokens;
    this.#last = new LastUsedTracker({ timestampOf: timestampOfMillis }, tokens);
  }

  countValid(id: string): void {
    this.#last.used(id);
    const requests = this.#countedOf(id);
    if (requests) requests.count++;
  }

  countInvalid(id: string): void {
    const requests = this.#countedOf(id);
    if (!requests) return;
    requests.count++;
    requests.rejected++;
  }

  /** Counts a request as rejected that `countValid` has already counted. */
  countRejected(id: string): void {
    const requests = this.#requests.get(id);
    if (requests) requests.rejected++;
  }

  lastUses(): Promise<ReadonlyMap<string, string>> {
    return this.#last.all();
  }

  requestsOf(id: string): RequestsOfToken {
    const { count, rejected } = this.#requests.get(id) ?? NONE;
    return { count, rejected };
  }

  stop(): Promise<void> {
    return this.#last.stop();
  }

  /** Returns the counts of a token; undefined while those of removed tokens use all memory for counts. */
  #countedOf(id: string): { count: number; rejected: number } | undefined {
    const known = this.#requests.get(id);
    if (known !== undefined) return known;
    if (this.#requests.size >= MAX_COUNTED) {
      if (!this.#isForgetting) inBackground('counts of tokens', () => this.#forgetRemoved());
      return undefined;
    }
    const made = { count: 0, rejected: 0 };
    this.#requests.set(id, made);
    return made;
  }

  async #forgetRemoved(): Promise<void> {
    this.#isForgetting = true;
    try {
      const listed = new Set((await this.#tokens.list()).map(({ id }) => id));
      for (const id of this.#requests.keys()) if (!listed.has(id)) this.#requests.delete(id);
    } catch {
      // The caller monitors the store and reports its faults. A later request tries again.
    } finally {
      this.#isForgetting = false;
    }
  }
}
