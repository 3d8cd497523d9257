import { createHash } from 'node:crypto';
import {
  type CreatedRule,
  KeyReused,
  type Micros,
  type NewRule,
  RETRY_KEY_LIFE_MS,
  type RuleFormat,
} from '../../index.ts';
import type { FirstAnswer, RulesEnvironment } from './environment.ts';
import type { Write } from './groupCommit.ts';

/** Expired retry keys that one create clears away: more than it adds, so that they cannot pile up. */
const EXPIRED_KEYS_CLEARED = 10;
const MICROS_PER_MILLI = 1000;

/** A creation that came with a retry key. Hashes bound what is stored, whatever the length of the key. */
export interface Retry {
  readonly key: string[];
  /** The same rule spelt otherwise has the same. */
  readonly fingerprint: string;
}

/** The first answers to creations with retry keys, for those that come again. */
export class FirstAnswers {
  readonly #environment: RulesEnvironment;
  readonly #format: RuleFormat;

  constructor(environment: RulesEnvironment, format: RuleFormat) {
    this.#environment = environment;
    this.#format = format;
  }

  retryOf(accountId: string, retryKey: string, rule: NewRule): Retry {
    return { key: [accountId, sha256(retryKey)], fingerprint: sha256(this.#format.canonicalText(rule)) };
  }

  /** The answer that a creation had. Throws `KeyReused` where that was another rule. */
  find(retry: Retry): CreatedRule | undefined {
    const first = this.#environment.firstAnswers.get(retry.key);
    if (!first || this.#isExpired(first)) return undefined;
    if (first.fingerprint !== retry.fingerprint) throw new KeyReused();
    return { rule: this.#format.complete(first.rule), overrides: first.overrides, replayed: true };
  }

  /** The writes that keep an answer for retries, and clear some that expired. */
  keep(retry: Retry, answer: Omit<CreatedRule, 'replayed'>, moment: Micros): Write[] {
    const { firstAnswers, firstAnswerAges } = this.#environment;
    const writes: Write[] = [];
    for (const { key: at, value: key } of firstAnswerAges.getRange({ limit: EXPIRED_KEYS_CLEARED })) {
      // The same key may have been used again since, for a younger answer that stays.
      const kept = firstAnswers.get(key);
      const isOwn = kept?.at === at;
      if (kept && isOwn && !this.#isExpired(kept)) break;
      writes.push({ database: firstAnswerAges, key: at });
      if (isOwn) writes.push({ database: firstAnswers, key });
    }
    writes.push(...this.#environment.noteClock());
    const wallClock = this.#environment.wallClock();
    const first: FirstAnswer = { at: moment, wallClock, fingerprint: retry.fingerprint, ...answer };
    writes.push({ database: firstAnswers, key: retry.key, value: first });
    writes.push({ database: firstAnswerAges, key: moment, value: retry.key });
    return writes;
  }

  /** An answer from the future was kept while the clock ran ahead: it lives on from when the clock was first found to be behind. */
  #isExpired({ at, wallClock = at }: FirstAnswer): boolean {
    const now = this.#environment.wallClock();
    const from = wallClock <= now ? wallClock : this.#environment.behindSince;
    return from !== undefined && from + RETRY_KEY_LIFE_MS * MICROS_PER_MILLI <= now;
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
