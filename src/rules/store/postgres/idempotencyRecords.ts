import { createHash } from 'node:crypto';
import {
  type CreatedRule,
  KeyReused,
  type Micros,
  type NewRule,
  RETRY_KEY_LIFE_MS,
  type RuleFormat,
} from '../../index.ts';
import { statement } from './connection/statement.ts';
import { queries } from './tables.ts';
import type { Transaction } from './transaction.ts';

/** Maximum number of expired retry keys that one creation removes. It exceeds one, so that they cannot accumulate. */
const EXPIRED_KEYS_CLEARED = 10;
const LIFE_MICROS = RETRY_KEY_LIFE_MS * 1000;

/** Creation of a rule with a retry key. The key and the rule are stored as hashes, so that their size is fixed. */
export interface Retry {
  readonly account: string;
  readonly key: string;
  /** Hash of the rule's canonical text. It is equal for equivalent rules. */
  readonly fingerprint: string;
}

/** Stores the results of creations with retry keys, and returns a result if its creation is repeated. */
export class IdempotencyRecords {
  readonly #format: RuleFormat;

  constructor(format: RuleFormat) {
    this.#format = format;
  }

  retryOf(account: string, retryKey: string, rule: NewRule): Retry {
    return { account, key: sha256(retryKey), fingerprint: sha256(this.#format.canonicalText(rule)) };
  }

  /** Returns the stored result of a creation. Throws `KeyReused` if the retry key was used to create another rule. */
  async find(
    transaction: Transaction,
    { account, key, fingerprint }: Retry,
  ): Promise<CreatedRule | undefined> {
    const [first] = await transaction.read(
      queries
        .selectFrom('idempotency_keys')
        .selectAll()
        .where('account', '=', account)
        .where('key', '=', key)
        .compile(),
    );
    if (first === undefined || isExpired(transaction, first.wall_clock)) return undefined;
    if (first.fingerprint !== fingerprint) throw new KeyReused();
    return { rule: this.#format.withDefaults(first.rule), overrides: first.overrides, replayed: true };
  }

  async keep(
    transaction: Transaction,
    { account, key, fingerprint }: Retry,
    { rule, overrides, at }: Omit<CreatedRule, 'replayed'> & { readonly at: Micros },
  ): Promise<void> {
    transaction.noteClock();
    const expired = expiredBefore(transaction);
    await transaction.writeUnaudited({
      compile: () => statement(CLEAR, [...expired, EXPIRED_KEYS_CLEARED]),
    });
    const answer = {
      ...{ at, wall_clock: transaction.wallClock, fingerprint },
      ...{ rule: JSON.stringify(rule), overrides: JSON.stringify(overrides) },
    };
    await transaction.writeUnaudited(
      queries
        .insertInto('idempotency_keys')
        .values({ account, key, ...answer })
        .onConflict((conflict) => conflict.columns(['account', 'key']).doUpdateSet(answer)),
    );
  }
}

const CLEAR = `DELETE FROM floodgate.idempotency_keys WHERE at IN (
  SELECT at FROM floodgate.idempotency_keys
  WHERE wall_clock <= $1 OR (wall_clock > $2 AND $3)
  ORDER BY at LIMIT $4)`;

/**
 * Returns [a, b, flag]: results that were stored at or before `a` by the wall clock have expired. If the flag is
 * true, results that were stored after `b` have expired too.
 */
function expiredBefore({ wallClock, behindSince }: Transaction): [Micros, Micros, boolean] {
  return [wallClock - LIFE_MICROS, wallClock, behindSince !== null && behindSince + LIFE_MICROS <= wallClock];
}

/** A result with a future time was stored while the wall clock ran ahead. Its life starts when that was noticed. */
function isExpired(transaction: Transaction, keptAt: Micros): boolean {
  const [before, now, future] = expiredBefore(transaction);
  return keptAt <= now ? keptAt <= before : future;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
