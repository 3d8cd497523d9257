import type { AccessEntry } from './accessList.ts';
import type { AuditEntry } from './audit.ts';
import type { Rule } from './rule.ts';
import type { Micros } from './timestamp.ts';
import type { Token } from './tokens/token.ts';

/** Keys and values of the records that `floodgate store copy` copies from one storage engine to another, by table. */
interface StoreTables {
  clock: ['clock', ClockState];
  rules: [[account: string, id: string], Rule];
  listEntries: [[account: string, list: string, id: string], AccessEntry];
  tokens: [hash: string, Token];
  firstAnswers: [[account: string, retryKeyHash: string], IdempotencyRecord];
  audit: [at: Micros, AuditEntry];
  gatewayKeys: [hash: string, object];
}

export type TableName = keyof StoreTables;

export type StoreRecord = {
  [T in TableName]: {
    readonly table: T;
    readonly key: StoreTables[T][0];
    readonly value: StoreTables[T][1];
  };
}[TableName];

/** Records in batches. Each batch contains at least one record, all of the same table. */
export type Batches = AsyncIterable<readonly StoreRecord[]>;

export interface ClockState {
  readonly moment: Micros;
  /** Wall-clock time at which the store noted that the wall clock is behind `moment`; null if it noted none. */
  readonly behindSince: Micros | null;
}

/** Stored result of the first creation with a retry key. */
export interface IdempotencyRecord {
  /** Time of the creation by the store's clock. */
  readonly at: Micros;
  /** Time of the creation by the wall clock. */
  readonly wallClock: Micros;
  readonly fingerprint: string;
  readonly rule: Rule;
  readonly overrides: readonly string[];
}

/** Rules store, with the API keys of the gateway, as the source or target of a copy. */
export interface StoreDump {
  /** Passes the records of a consistent snapshot of the store to `use`. */
  read(use: (batches: Batches) => Promise<void>): Promise<void>;
  /** Writes records to an empty store, all or none of them. Throws `StoreNotEmpty`. */
  fill(batches: Batches): Promise<void>;
}

export class StoreNotEmpty extends Error {
  override readonly name = 'StoreNotEmpty';
}
