import type { AccessEntry, AccessListName, EntrySettings, NewAccessEntry } from './accessList.ts';
import type { Actor } from './audit.ts';

export interface AccessListKey {
  readonly accountId: string;
  readonly list: AccessListName;
}

/** Store of allow and deny lists, with the durability, audit and errors of `RuleStore`. */
export interface AccessListStore {
  /** Returns the entries of a list, ordered by `created_on`, then `id`. */
  entries(key: AccessListKey): Promise<readonly AccessEntry[]>;

  get(key: AccessListKey, id: string): Promise<AccessEntry | undefined>;

  /** Throws `TooManyEntries`. */
  create(key: AccessListKey, entry: NewAccessEntry, actor: Actor): Promise<AccessEntry>;

  /** Applies the changes that `decide` returns in the transaction. Writes nothing and rethrows if `decide` throws. */
  update(
    key: AccessListKey,
    id: string,
    change: { readonly decide: (stored: AccessEntry) => EntrySettings; readonly actor: Actor },
  ): Promise<AccessEntry | undefined>;

  /** Deletes an entry unless `check` throws for the stored one. Returns false if the entry does not exist. */
  delete(
    key: AccessListKey,
    id: string,
    change: { readonly check: (stored: AccessEntry) => void; readonly actor: Actor },
  ): Promise<boolean>;

  /** Deletes all entries of a list. Returns their number. */
  deleteAll(key: AccessListKey, actor: Actor): Promise<number>;

  /** Calls the listener with the account id after each change of its lists. Returns a function that unsubscribes. */
  onChange(listener: (accountId: string) => void): () => void;
}
