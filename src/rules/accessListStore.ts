import type { AccessEntry, AccessListName, EntrySettings, NewAccessEntry } from './accessList.ts';
import type { Actor } from './audit.ts';
import type { AuditedRecords, Deletion, Scope, Update } from './auditedRecords.ts';

export interface AccessListKey {
  readonly accountId: string;
  readonly list: AccessListName;
}

/** Store of access lists. Its durability, audit entries and errors are as in `RuleStore`. */
export interface AccessListStore {
  /** Returns the entries of an access list, ordered by `created_on`, then `id`. */
  entries(key: AccessListKey): Promise<readonly AccessEntry[]>;

  get(key: AccessListKey, id: string): Promise<AccessEntry | undefined>;

  /** Throws `TooManyEntries` if the list already has the maximum number of entries. */
  create(key: AccessListKey, entry: NewAccessEntry, actor: Actor): Promise<AccessEntry>;

  /**
   * Passes the stored entry to `decide` and applies the settings that it returns, in one transaction. If `decide`
   * throws, nothing is written and the error is rethrown.
   */
  update(
    key: AccessListKey,
    id: string,
    update: Update<AccessEntry, EntrySettings>,
  ): Promise<AccessEntry | undefined>;

  /** Deletes an entry unless `check` throws for it. Returns false if the entry does not exist. */
  delete(key: AccessListKey, id: string, deletion: Deletion<AccessEntry>): Promise<boolean>;

  /** Deletes all entries of a list. Returns the number of deleted entries. */
  deleteAll(key: AccessListKey, actor: Actor): Promise<number>;

  /** Calls the listener with an account's id after each change of its lists. Returns a function that unsubscribes. */
  onChange(listener: (accountId: string) => void): () => void;
}

export const accessListStoreOf = (records: AuditedRecords<AccessEntry, NewAccessEntry>): AccessListStore => ({
  entries: (key) => records.list(scopeOf(key)),
  get: (key, id) => records.get(scopeOf(key), id),
  async create(key, { comment, enabled, ...subject }, actor) {
    const fields = { ...subject, comment, enabled };
    return (await records.create(scopeOf(key), fields, { actor })).item;
  },
  update: (key, id, update) => records.update(scopeOf(key), id, update),
  delete: (key, id, deletion) => records.delete(scopeOf(key), id, deletion),
  deleteAll: (key, actor) => records.deleteAll(scopeOf(key), actor),
  onChange: (listener) => records.onChange(listener),
});

const scopeOf = ({ accountId, list }: AccessListKey): Scope => [accountId, list];
