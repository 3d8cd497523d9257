import { hash } from 'node:crypto';
import type { AccessEntry } from './accessList.ts';
import type { AuditEntry } from './audit.ts';
import type { Rule } from './rule.ts';
import type { Micros } from './timestamp.ts';
import type { Token } from './token.ts';

/** One record of a store as it is copied: all that the store would have to be told to answer as before. */
export type StoreRecord =
  | { readonly kind: 'clock'; readonly moment: Micros; readonly behindSince: Micros | null }
  | AccountRecord
  | { readonly kind: 'rule'; readonly account: string; readonly rule: Rule }
  | {
      readonly kind: 'entry';
      readonly account: string;
      readonly list: string;
      readonly entry: AccessEntry;
    }
  | { readonly kind: 'token'; readonly token: Token }
  | { readonly kind: 'change'; readonly entry: AuditEntry }
  | FirstAnswerRecord
  | { readonly kind: 'key'; readonly hash: string; readonly key: unknown };

/** When rules and lists of an account changed last; zero for never. */
export interface AccountRecord {
  readonly kind: 'account';
  readonly account: string;
  readonly rules: Micros;
  readonly lists: Micros;
}

/** The first answer to a creation that came with a retry key. */
export interface FirstAnswerRecord {
  readonly kind: 'answer';
  readonly account: string;
  /** SHA-256 of the retry key. */
  readonly key: string;
  readonly at: Micros;
  readonly wallClock: Micros;
  readonly fingerprint: string;
  readonly rule: Rule;
  readonly overrides: readonly string[];
}

export type RecordKind = StoreRecord['kind'];

/** A store as a whole, for copying it. */
export interface WholeStore {
  /** Gives all records, as of one moment, to `use`. */
  read<T>(use: (records: AsyncIterable<StoreRecord>) => Promise<T>): Promise<T>;
  /**
   * Fills a store that is empty, all or nothing: `check` gets what can be read back, before that counts, and rejects where it is not as it
   * should be. Throws `StoreNotEmpty`.
   */
  fill(
    records: AsyncIterable<StoreRecord>,
    check: (written: AsyncIterable<StoreRecord>) => Promise<void>,
  ): Promise<void>;
  close(): Promise<void>;
}

/** There is something in the store already, which is not for a copy to replace. */
export class StoreNotEmpty extends Error {
  override readonly name = 'StoreNotEmpty';

  constructor(where: string) {
    super(`${where} is not empty: copy into a store in which nothing was ever written`);
  }
}

const DIGEST_BITS = 256;

/** How many records of each kind there are, and a digest of them, whatever their order. */
export class StoreSummary {
  readonly #counts = new Map<RecordKind, number>();
  readonly #sums = new Map<RecordKind, bigint>();
  total = 0;

  add(record: StoreRecord): void {
    const { kind } = record;
    const digest = BigInt(`0x${hash('sha256', JSON.stringify(record), 'hex')}`);
    this.#counts.set(kind, this.count(kind) + 1);
    // A sum, where an exclusive or would lose records that are there twice.
    this.#sums.set(kind, BigInt.asUintN(DIGEST_BITS, (this.#sums.get(kind) ?? 0n) + digest));
    this.total++;
  }

  count(kind: RecordKind): number {
    return this.#counts.get(kind) ?? 0;
  }

  /** 64 hex digits. */
  digest(kind: RecordKind): string {
    return (this.#sums.get(kind) ?? 0n).toString(16).padStart(DIGEST_BITS / 4, '0');
  }

  /** The kinds of which the other has not the same records. */
  differences(other: StoreSummary): RecordKind[] {
    const kinds = new Set([...this.#counts.keys(), ...other.#counts.keys()]);
    return [...kinds].filter(
      (kind) => this.count(kind) !== other.count(kind) || this.digest(kind) !== other.digest(kind),
    );
  }
}
