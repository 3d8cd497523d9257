import { createHash } from 'node:crypto';
import {
  type IdempotencyRecord,
  KeyReused,
  type Micros,
  RETRY_KEY_LIFE_MS,
  type StoreRows,
} from '../../index.ts';
import { statement } from './connection/statement.ts';
import type { Transaction } from './transaction.ts';

/** Maximum number of expired retry keys that one creation removes. It exceeds one, so that they cannot accumulate. */
const EXPIRED_KEYS_CLEARED = 10;
const LIFE_MICROS = RETRY_KEY_LIFE_MS * 1000;

/** Creation with a retry key. The key and the request are stored as hashes, so that their size is fixed. */
export interface Retry {
  readonly account: string;
  readonly key: string;
  /** Hash of the request's canonical text. It is equal for equivalent requests. */
  readonly fingerprint: string;
}

type FirstAnswer = Pick<IdempotencyRecord, 'created' | 'overrides'>;

/** Stores the results of creations with retry keys, and returns a result if its creation is repeated. */
export class IdempotencyRecords {
  retryOf(account: string, retryKey: string, canonicalText: string): Retry {
    return { account, key: sha256(retryKey), fingerprint: sha256(canonicalText) };
  }

  /** Returns the stored result of a creation. Throws `KeyReused` if the retry key was used for another creation. */
  async find(
    transaction: Transaction,
    { account, key, fingerprint }: Retry,
  ): Promise<FirstAnswer | undefined> {
    const [first] = await transaction.read(statement<StoreRows['idempotency_keys']>(STORED, [account, key]));
    if (first === undefined || isExpired(transaction, first.wall_clock)) return undefined;
    if (first.fingerprint !== fingerprint) throw new KeyReused();
    return first;
  }

  async keep(
    transaction: Transaction,
    { account, key, fingerprint }: Retry,
    { created, overrides, at }: FirstAnswer & { readonly at: Micros },
  ): Promise<void> {
    transaction.noteClock();
    const expired = expiredBefore(transaction);
    await transaction.writeUnaudited(statement(CLEAR, [...expired, EXPIRED_KEYS_CLEARED]));
    const answer = [
      at,
      transaction.wallClock,
      fingerprint,
      JSON.stringify(created),
      JSON.stringify(overrides),
    ];
    await transaction.writeUnaudited(statement(KEEP, [account, key, ...answer]));
  }
}

const STORED = 'SELECT * FROM floodgate.idempotency_keys WHERE account = $1 AND key = $2';
const KEEP = `INSERT INTO floodgate.idempotency_keys (account, key, at, wall_clock, fingerprint, created, overrides)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (account, key) DO UPDATE SET at = excluded.at, wall_clock = excluded.wall_clock,
    fingerprint = excluded.fingerprint, created = excluded.created, overrides = excluded.overrides`;
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
