import type { AccessEntry, AccessListName, EntrySettings, NewAccessEntry } from './accessList.ts';
import type { Actor } from './audit.ts';
import type { ZonePolicyChanges } from './format/zonePolicyFormat.ts';
import type { NewRule, Rule, RuleSettings } from './rule.ts';
import type { Micros } from './timestamp.ts';
import type { ZonePolicy, ZonePolicySettings } from './zonePolicy.ts';

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

/** Time for which the result of a creation is stored under its retry key: 24 hours. */
export const RETRY_KEY_LIFE_MS = 24 * 60 * 60 * 1000;

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
 * Store of records whose changes are audited, by the account or list that they belong to. A write is atomic, and is
 * durable when its promise resolves. The audit entry of a change is written in the same transaction. Methods throw
 * `StoreUnavailable` if the storage engine fails.
 */
export interface RecordStore<Key, Item, Fields, Changes> {
  /**
   * Returns the records as a frozen array, ordered by `created_on`, then `id`. Returns the same array until a record
   * changes, so that callers can cache derived data by the identity of the array.
   */
  list(key: Key): Promise<readonly Item[]>;

  get(key: Key, id: string): Promise<Item | undefined>;

  /**
   * Throws `TooManyRules`, `TooManyZonePolicies` or `TooManyEntries` at the limit, `ZoneHasPolicy` if the zone has a
   * policy, and `KeyReused` if the retry key was used for another creation.
   */
  create(key: Key, fields: Fields, creation: Creation): Promise<Created<Item>>;

  /**
   * Passes the stored record to `decide` and applies the settings that it returns, in one transaction. If `decide`
   * throws, nothing is written and the error is rethrown.
   */
  update(key: Key, id: string, update: Update<Item, Changes>): Promise<Item | undefined>;

  /** Deletes a record unless `check` throws for it. Returns false if the record does not exist. */
  delete(key: Key, id: string, deletion: Deletion<Item>): Promise<boolean>;

  /** Deletes all records. Returns the number of deleted records. */
  deleteAll(key: Key, actor: Actor): Promise<number>;

  /**
   * Calls the listener with the account id after each change of an account's records: at once if this process made the
   * change, within two seconds if another process or instance made it. Returns a function that unsubscribes.
   */
  onChange(listener: (accountId: string) => void): () => void;
}

export interface AccessListKey {
  readonly accountId: string;
  readonly list: AccessListName;
}

export type RuleStore = RecordStore<string, Rule, NewRule, Partial<RuleSettings>>;
export type ZonePolicyStore = RecordStore<string, ZonePolicy, ZonePolicySettings, ZonePolicyChanges>;
export type AccessListStore = RecordStore<AccessListKey, AccessEntry, NewAccessEntry, EntrySettings>;

/** Key of the records of an account or, for access lists, of one of its lists. */
export type Scope = readonly [account: string, ...list: string[]];

/** Audited records in a storage engine: rules, zone policies, or entries of access lists. */
export type AuditedRecords<Item, Fields> = RecordStore<Scope, Item, Fields, object>;

interface EngineRecords {
  readonly rules: AuditedRecords<Rule, NewRule>;
  readonly zonePolicies: AuditedRecords<ZonePolicy, ZonePolicySettings>;
  readonly lists: AuditedRecords<AccessEntry, NewAccessEntry>;
}

export interface RecordStores {
  readonly rules: RuleStore;
  readonly zonePolicies: ZonePolicyStore;
  readonly lists: AccessListStore;
}

/** Returns the stores of the records of an engine. */
export const recordStoresOf = ({ rules, zonePolicies, lists }: EngineRecords): RecordStores => ({
  rules: recordStoreOf(rules, (account) => [account]),
  zonePolicies: recordStoreOf(zonePolicies, (account) => [account]),
  lists: recordStoreOf(lists, ({ accountId, list }) => [accountId, list]),
});

const recordStoreOf = <Key, Item, Fields, Changes extends object>(
  records: AuditedRecords<Item, Fields>,
  scopeOf: (key: Key) => Scope,
): RecordStore<Key, Item, Fields, Changes> => ({
  list: (key) => records.list(scopeOf(key)),
  get: (key, id) => records.get(scopeOf(key), id),
  create: (key, fields, creation) => records.create(scopeOf(key), fields, creation),
  update: (key, id, update) => records.update(scopeOf(key), id, update),
  delete: (key, id, deletion) => records.delete(scopeOf(key), id, deletion),
  deleteAll: (key, actor) => records.deleteAll(scopeOf(key), actor),
  onChange: (listener) => records.onChange(listener),
});
