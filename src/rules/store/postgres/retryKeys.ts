import { createHash } from 'node:crypto';
import {
  type CreatedRule,
  KeyReused,
  type Micros,
  type NewRule,
  RETRY_KEY_LIFE_MS,
  type RuleFormat,
} from '../../index.ts';
import { statement } from './statement.ts';
import { queries } from './tables.ts';
import type { Transaction } from './transaction.ts';

/** Expired retry keys that one create clears away: more than it adds, so that they cannot pile up. */
const EXPIRED_KEYS_CLEARED = 10;
const LIFE_MICROS = RETRY_KEY_LIFE_MS * 1000;

/** A creation that came with a retry key. Hashes bound what is stored, whatever the length of the key. */
export interface Retry {
  readonly account: string;
  readonly key: string;
  /** The same rule spelt otherwise has the same. */
  readonly fingerprint: string;
}

/** The first answers to creations with retry keys, for those that come again. */
export class RetryKeys {
  readonly #format: RuleFormat;

  constructor(format: RuleFormat) {
    this.#format = format;
  }

  retryOf(account: string, retryKey: string, rule: NewRule): Retry {
    return { account, key: sha256(retryKey), fingerprint: sha256(this.#format.canonicalText(rule)) };
  }

  /** The answer that a creation had. Throws `KeyReused` where that was another rule. */
  async find(
    transaction: Transaction,
    { account, key, fingerprint }: Retry,
  ): Promise<CreatedRule | undefined> {
    const [first] = await transaction.read(
      queries
        .selectFrom('first_answers')
        .selectAll()
        .where('account', '=', account)
        .where('key', '=', key)
        .compile(),
    );
    if (first === undefined || isExpired(transaction, first.wall_clock)) return undefined;
    if (first.fingerprint !== fingerprint) throw new KeyReused();
    return { rule: this.#format.complete(first.rule), overrides: first.overrides, replayed: true };
  }

  /** Keeps an answer for retries, and clears some that expired. */
  async keep(
    transaction: Transaction,
    { account, key, fingerprint }: Retry,
    { rule, overrides, at }: Omit<CreatedRule, 'replayed'> & { readonly at: Micros },
  ): Promise<void> {
    transaction.noteClock();
    const expired = expiredBefore(transaction);
    await transaction.writeBeside({
      compile: () => statement(CLEAR, [...expired, EXPIRED_KEYS_CLEARED]),
    });
    const answer = {
      ...{ at, wall_clock: transaction.wallClock, fingerprint },
      ...{ rule: JSON.stringify(rule), overrides: JSON.stringify(overrides) },
    };
    await transaction.writeBeside(
      queries
        .insertInto('first_answers')
        .values({ account, key, ...answer })
        .onConflict((conflict) => conflict.columns(['account', 'key']).doUpdateSet(answer)),
    );
  }
}

const CLEAR = `DELETE FROM floodgate.first_answers WHERE at IN (
  SELECT at FROM floodgate.first_answers
  WHERE wall_clock <= $1 OR (wall_clock > $2 AND $3)
  ORDER BY at LIMIT $4)`;

/** Older than the first is expired; from the future, after the second, where the third says so. */
function expiredBefore({ wallClock, behindSince }: Transaction): [Micros, Micros, boolean] {
  return [wallClock - LIFE_MICROS, wallClock, behindSince !== null && behindSince + LIFE_MICROS <= wallClock];
}

/** An answer from the future was kept while the clock ran ahead: it lives on from when the clock was first found to be behind. */
function isExpired(transaction: Transaction, keptAt: Micros): boolean {
  const [before, now, future] = expiredBefore(transaction);
  return keptAt <= now ? keptAt <= before : future;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
