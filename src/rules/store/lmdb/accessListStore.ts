import {
  type AccessEntry,
  type AccessListKey,
  type AccessListName,
  type AccessListStore,
  type Actor,
  type EntryDeletion,
  type EntryUpdate,
  listChange,
  MAX_ENTRIES_PER_LIST,
  type NewAccessEntry,
  TooManyEntries,
} from '../../index.ts';
import { AuditedRecords, type Scope } from './auditedRecords.ts';
import type { ListCounts, RulesEnvironment } from './environment.ts';

/** Access lists in LMDB. The entries are keyed by account, list and entry id. */
export class LmdbAccessListStore implements AccessListStore {
  readonly #environment: RulesEnvironment;
  readonly #records: AuditedRecords<AccessEntry, NewAccessEntry, ListCounts>;

  constructor(environment: RulesEnvironment) {
    this.#environment = environment;
    const { listEntries: records, lists: states } = environment;
    this.#records = new AuditedRecords(environment, {
      ...{ records, states },
      stateOf: ([, list = ''], before, added) => {
        const { counts = {} }: Partial<ListCounts> = before ?? {};
        return { counts: { ...counts, [list]: (counts[list as AccessListName] ?? 0) + added } };
      },
      changeOf: ([accountId, list], entry) => listChange({ accountId, list: list as AccessListName }, entry),
    });
  }

  async entries(key: AccessListKey): Promise<readonly AccessEntry[]> {
    return this.#records.scan(scopeOf(key));
  }

  async get(key: AccessListKey, id: string): Promise<AccessEntry | undefined> {
    return this.#records.get(scopeOf(key), id);
  }

  async create(key: AccessListKey, fields: NewAccessEntry, actor: Actor): Promise<AccessEntry> {
    const check = (): string[] => {
      const count = this.#environment.lists.get(key.accountId)?.counts[key.list] ?? 0;
      if (count >= MAX_ENTRIES_PER_LIST) throw new TooManyEntries(key.list, MAX_ENTRIES_PER_LIST);
      return [];
    };
    const { comment, enabled, ...subject } = fields;
    const ordered = { ...subject, comment, enabled };
    return (await this.#records.create(scopeOf(key), ordered, { actor, check })).item;
  }

  update(key: AccessListKey, id: string, change: EntryUpdate): Promise<AccessEntry | undefined> {
    return this.#records.update(scopeOf(key), id, change);
  }

  delete(key: AccessListKey, id: string, change: EntryDeletion): Promise<boolean> {
    return this.#records.delete(scopeOf(key), id, change);
  }

  deleteAll(key: AccessListKey, actor: Actor): Promise<number> {
    return this.#records.deleteAll(scopeOf(key), actor);
  }

  onChange(listener: (accountId: string) => void): () => void {
    return this.#records.onChange(listener);
  }

  close(): void {
    this.#records.close();
  }
}

const scopeOf = ({ accountId, list }: AccessListKey): Scope => [accountId, list];
