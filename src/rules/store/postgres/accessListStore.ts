import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import {
  type AccessEntry,
  type AccessListKey,
  type AccessListStore,
  type Actor,
  type EntrySettings,
  formatTimestamp,
  type ListChange,
  MAX_ENTRIES_PER_LIST,
  type NewAccessEntry,
  SnapshotCache,
  stamp,
  TooManyEntries,
} from '../../index.ts';
import { CachedCollections } from './cachedCollections.ts';
import type { StoreParts } from './storeParts.ts';
import { queries } from './tables.ts';
import type { Transaction } from './transaction.ts';

interface Listed {
  readonly list: string;
  readonly entry: AccessEntry;
}

/** Access lists in PostgreSQL. The entries of both lists of an account are cached together. */
export class PostgresAccessListStore implements AccessListStore {
  readonly #parts: StoreParts;
  readonly collection: CachedCollections<Listed>;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.collection = new CachedCollections({
      connections: parts.connections,
      snapshots: new SnapshotCache<Listed>(),
      changedAt: (account) =>
        queries
          .selectFrom('accounts')
          .select('lists_changed_at as at')
          .where('account', '=', account)
          .compile(),
      all: (account) =>
        queries
          .selectFrom('accounts')
          .leftJoin('list_entries', 'list_entries.account', 'accounts.account')
          .select(['accounts.lists_changed_at as at', LISTED.as('item')])
          .where('accounts.account', '=', account)
          .orderBy('list_entries.created_on')
          .orderBy('list_entries.id')
          .compile(),
      finish: (listed) => listed,
    });
    parts.feed.lists.cached = () => this.collection.cached();
    parts.feed.lists.add((account) => this.collection.scheduleRead(account));
  }

  async entries({ accountId, list }: AccessListKey): Promise<readonly AccessEntry[]> {
    const listed = (await this.collection.read(accountId)) ?? [];
    return listed.filter((one) => one.list === list).map(({ entry }) => entry);
  }

  async get({ accountId, list }: AccessListKey, id: string): Promise<AccessEntry | undefined> {
    const found = await this.collection.readOne(accountId, {
      query: queries
        .selectFrom('list_entries')
        .select(LISTED.as('item'))
        .where('account', '=', accountId)
        .where('list', '=', list)
        .where('id', '=', id)
        .compile(),
      isIt: (one) => one.list === list && one.entry.id === id,
    });
    return found?.entry;
  }

  async create(key: AccessListKey, fields: NewAccessEntry, actor: Actor): Promise<AccessEntry> {
    const entry = await this.#parts.commits.run(async (transaction) => {
      const [held] = await transaction.read(
        ofList(key)
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .compile(),
      );
      if ((held?.count ?? 0) >= MAX_ENTRIES_PER_LIST)
        throw new TooManyEntries(key.list, MAX_ENTRIES_PER_LIST);
      const moment = transaction.nextMoment();
      const at = formatTimestamp(moment);
      const { comment, enabled, ...subject } = fields;
      const after: AccessEntry = {
        id: randomUUID(),
        ...subject,
        ...{ comment, enabled, created_on: at, modified_on: at },
      };
      const row = {
        ...{ account: key.accountId, list: key.list, id: after.id, created_on: at },
        entry: JSON.stringify(after),
      };
      const change = { ...stamp(moment, actor), ...changeOf(key, { before: null, after }) };
      await transaction.write(queries.insertInto('list_entries').values(row), [change]);
      return after;
    });
    this.#parts.feed.lists.notify(key.accountId, entry.modified_on);
    return entry;
  }

  async update(
    key: AccessListKey,
    id: string,
    { decide, actor }: { readonly decide: (stored: AccessEntry) => EntrySettings; readonly actor: Actor },
  ): Promise<AccessEntry | undefined> {
    let changed = false;
    const entry = await this.#parts.commits.run(async (transaction) => {
      const [before] = await entriesOf(transaction, key, id);
      const settings = before && decide(before);
      changed = settings !== undefined && Object.keys(settings).length > 0;
      if (before === undefined || !changed) return before;
      const moment = transaction.nextMoment();
      const after = { ...before, ...settings, modified_on: formatTimestamp(moment) };
      const change = { ...stamp(moment, actor), ...changeOf(key, { before, after }) };
      const query = queries
        .updateTable('list_entries')
        .set({ entry: JSON.stringify(after) })
        .where('account', '=', key.accountId)
        .where('list', '=', key.list)
        .where('id', '=', id);
      await transaction.write(query, [change]);
      return after;
    });
    if (entry !== undefined && changed) this.#parts.feed.lists.notify(key.accountId, entry.modified_on);
    return entry;
  }

  async delete(
    key: AccessListKey,
    id: string,
    { check, actor }: { readonly check: (stored: AccessEntry) => void; readonly actor: Actor },
  ): Promise<boolean> {
    const deleted = await this.#delete(key, actor, async (transaction) => {
      const entries = await entriesOf(transaction, key, id);
      for (const entry of entries) check(entry);
      return entries;
    });
    return deleted > 0;
  }

  deleteAll(key: AccessListKey, actor: Actor): Promise<number> {
    return this.#delete(key, actor, (transaction) => entriesOf(transaction, key));
  }

  onChange(listener: (accountId: string) => void): () => void {
    return this.#parts.feed.lists.add(listener);
  }

  /** Deletes the entries that `find` returns, each with a unique time. Returns the number of deleted entries. */
  async #delete(
    key: AccessListKey,
    actor: Actor,
    find: (transaction: Transaction) => Promise<readonly AccessEntry[]>,
  ): Promise<number> {
    const changes = await this.#parts.commits.run(async (transaction) => {
      const entries = await find(transaction);
      if (entries.length === 0) return [];
      const first = transaction.nextMoment(entries.length);
      const deletions = entries.map((before, index): ListChange => {
        return { ...stamp(first + index, actor), ...changeOf(key, { before, after: null }) };
      });
      const ids = entries.map(({ id }) => id);
      const query = queries
        .deleteFrom('list_entries')
        .where('account', '=', key.accountId)
        .where('list', '=', key.list)
        .where('id', 'in', ids);
      await transaction.write(query, deletions);
      return deletions;
    });
    const last = changes.at(-1);
    if (last !== undefined) this.#parts.feed.lists.notify(key.accountId, last.at);
    return changes.length;
  }
}

const LISTED = sql<Listed>`json_build_object('list', ${sql.ref('list')}, 'entry', ${sql.ref('entry')})`;

const ofList = ({ accountId, list }: AccessListKey) =>
  queries.selectFrom('list_entries').where('account', '=', accountId).where('list', '=', list);

async function entriesOf(
  transaction: Transaction,
  key: AccessListKey,
  id?: string,
): Promise<readonly AccessEntry[]> {
  const all = ofList(key).select('entry').orderBy('created_on').orderBy('id');
  const rows = await transaction.read((id === undefined ? all : all.where('id', '=', id)).compile());
  return rows.map(({ entry }) => entry);
}

interface EntryChange {
  readonly before: AccessEntry | null;
  readonly after: AccessEntry | null;
}

function changeOf({ accountId, list }: AccessListKey, { before, after }: EntryChange) {
  const action = before === null ? 'list.create' : after === null ? 'list.delete' : 'list.update';
  const entry = (after ?? before)?.id ?? '';
  return { action, account: accountId, list, entry, before, after } as const;
}
