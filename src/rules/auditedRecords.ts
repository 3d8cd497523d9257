import type { Actor } from './audit.ts';
import type { Micros } from './timestamp.ts';

/** Key of the records of an account or, for access lists, of one of its lists. */
export type Scope = readonly [account: string, ...list: string[]];

/** Members that the service sets. */
export interface Identified {
  readonly id: string;
  readonly created_on: string;
  readonly modified_on: string;
}

export interface Creation {
  readonly actor: Actor;
  /** `Idempotency-Key` of the request. If a creation is repeated with the same key, the first result is returned. */
  readonly retryKey?: string | undefined;
}

/** Change of a stored record. `decide` returns its changed members; with none, nothing is written. */
export interface Update<Stored, Changes = object> {
  readonly decide: (stored: Stored) => Changes;
  readonly actor: Actor;
}

/** Deletion of a stored record, unless `check` throws for it. */
export interface Deletion<Stored> {
  readonly check: (stored: Stored) => void;
  readonly actor: Actor;
}

export interface Created<Item> {
  readonly item: Item;
  /** Ids of the records that the new one overrides. */
  readonly overrides: readonly string[];
  /** Whether an earlier creation with the same retry key created the record. */
  readonly replayed: boolean;
}

/** Stored result of the first creation with a retry key. */
export interface IdempotencyRecord {
  /** Time of the creation by the store's clock. */
  readonly at: Micros;
  /** Time of the creation by the wall clock. */
  readonly wallClock: Micros;
  readonly fingerprint: string;
  /** Rule or zone policy. */
  readonly created: object;
  /** Ids of the rules that the created rule overrides; empty for a zone policy. */
  readonly overrides: readonly string[];
}

/**
 * Audited records in a storage engine: rules, zone policies, or entries of access lists. `RuleStore` describes the
 * methods.
 */
export interface AuditedRecords<Item, Fields> {
  list(scope: Scope): Promise<readonly Item[]>;
  get(scope: Scope, id: string): Promise<Item | undefined>;
  create(scope: Scope, fields: Fields, creation: Creation): Promise<Created<Item>>;
  update(scope: Scope, id: string, update: Update<Item>): Promise<Item | undefined>;
  delete(scope: Scope, id: string, deletion: Deletion<Item>): Promise<boolean>;
  deleteAll(scope: Scope, actor: Actor): Promise<number>;
  onChange(listener: (accountId: string) => void): () => void;
}
