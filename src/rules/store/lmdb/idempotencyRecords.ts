import { createHash } from 'node:crypto';
import { type IdempotencyRecord, KeyReused, type Micros, RETRY_KEY_LIFE_MS } from '../../index.ts';
import type { RulesEnvironment } from './environment.ts';
import type { Write } from './groupCommit.ts';

/** Maximum number of expired retry keys that one creation removes. It exceeds one, so that they cannot accumulate. */
const EXPIRED_KEYS_CLEARED = 10;
const MICROS_PER_MILLI = 1000;

/** Creation with a retry key. The key and the request are stored as hashes, so that their size is fixed. */
export interface Retry {
  readonly key: string[];
  /** Hash of the request's canonical text. It is equal for equivalent requests. */
  readonly fingerprint: string;
}

type FirstAnswer = Pick<IdempotencyRecord, 'created' | 'overrides'>;

/** Stores the results of creations with retry keys, and returns a result if its creation is repeated. */
export class IdempotencyRecords {
  readonly #environment: RulesEnvironment;

  constructor(environment: RulesEnvironment) {
    this.#environment = environment;
  }

  retryOf(accountId: string, retryKey: string, canonicalText: string): Retry {
    return { key: [accountId, sha256(retryKey)], fingerprint: sha256(canonicalText) };
  }

  /** Returns the stored result of a creation. Throws `KeyReused` if the retry key was used for another creation. */
  find(retry: Retry): IdempotencyRecord | undefined {
    const first = this.#environment.firstAnswers.get(retry.key);
    if (!first || this.#isExpired(first)) return undefined;
    if (first.fingerprint !== retry.fingerprint) throw new KeyReused();
    return first;
  }

  keep(retry: Retry, answer: FirstAnswer, moment: Micros): Write[] {
    const { firstAnswers, firstAnswerAges } = this.#environment;
    const writes: Write[] = [];
    for (const { key: at, value: key } of firstAnswerAges.getRange({ limit: EXPIRED_KEYS_CLEARED })) {
      // Another creation may have stored a newer result under the same retry key. That result must remain.
      const kept = firstAnswers.get(key);
      const isOwn = kept?.at === at;
      if (kept && isOwn && !this.#isExpired(kept)) break;
      writes.push({ database: firstAnswerAges, key: at });
      if (isOwn) writes.push({ database: firstAnswers, key });
    }
    writes.push(...this.#environment.noteClock());
    const wallClock = this.#environment.wallClock();
    const first: IdempotencyRecord = { at: moment, wallClock, fingerprint: retry.fingerprint, ...answer };
    writes.push({ database: firstAnswers, key: retry.key, value: first });
    writes.push({ database: firstAnswerAges, key: moment, value: retry.key });
    return writes;
  }

  /**
   * A result with a future time was stored while the wall clock ran ahead. Its life starts when the store noticed
   * that.
   */
  #isExpired({ wallClock }: IdempotencyRecord): boolean {
    const now = this.#environment.wallClock();
    const from = wallClock <= now ? wallClock : this.#environment.behindSince;
    return from !== undefined && from + RETRY_KEY_LIFE_MS * MICROS_PER_MILLI <= now;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
