import type { AccessEntry, AccessListName, EntrySettings, NewAccessEntry } from './accessList.ts';
import type { Actor } from './audit.ts';

/** One list of one account. */
export interface AccessListKey {
  readonly accountId: string;
  readonly list: AccessListName;
}

/**
 * Where allow and deny lists are kept, as `RuleStore` keeps rules: every write is durable when its promise resolves, leaves its
 * audit entry in the same transaction, and is whole or not there at all. `StoreUnavailable` where the engine cannot do it now.
 */
export interface AccessListStore {
  /** By `created_on`, then `id`. */
  entries(key: AccessListKey): Promise<readonly AccessEntry[]>;

  get(key: AccessListKey, id: string): Promise<AccessEntry | undefined>;

  /** Throws `TooManyEntries`. */
  create(key: AccessListKey, entry: NewAccessEntry, actor: Actor): Promise<AccessEntry>;

  /**
   * Changes an entry by what `decide` makes of the stored one, inside the transaction; an empty decision changes nothing. What
   * `decide` throws comes out, with nothing written. Undefined where there is no such entry.
   */
  update(
    key: AccessListKey,
    id: string,
    change: { readonly decide: (stored: AccessEntry) => EntrySettings; readonly actor: Actor },
  ): Promise<AccessEntry | undefined>;

  /** Deletes an entry unless `check` throws on the stored one. False where there is no such entry. */
  delete(
    key: AccessListKey,
    id: string,
    change: { readonly check: (stored: AccessEntry) => void; readonly actor: Actor },
  ): Promise<boolean>;

  /** Deletes every entry of a list. Returns how many there were. */
  deleteAll(key: AccessListKey, actor: Actor): Promise<number>;

  /** Calls back with an account id each time that lists of it changed, as `RuleStore` does. Returns a function that ends it. */
  onChange(listener: (accountId: string) => void): () => void;
}
