import { randomUUID } from 'node:crypto';
import {
  type Actor,
  type AuditEntry,
  type AuditedRecords,
  type Created,
  type Creation,
  type Deletion,
  formatTimestamp,
  type Identified,
  type Scope,
  SnapshotCache,
  type States,
  stamp,
  type Update,
} from '../../index.ts';
import { CachedCollections } from './cachedCollections.ts';
import type { Listeners } from './connection/listeners.ts';
import { statement } from './connection/statement.ts';
import { IdempotencyRecords } from './idempotencyRecords.ts';
import type { StoreParts } from './storeParts.ts';
import type { Transaction } from './transaction.ts';

const NONE: readonly never[] = Object.freeze([]);

export interface PostgresRecordsOptions<Item, Fields, Cached> {
  readonly table: 'rules' | 'zone_policies' | 'list_entries';
  /** Column of the table with the records as JSON. */
  readonly column: 'rule' | 'policy' | 'entry';
  /** Column of `accounts` with the time of the last change. */
  readonly changedAt: 'rules_changed_at' | 'zones_changed_at' | 'lists_changed_at';
  readonly listeners: Listeners;
  /** SQL expression of a record in the cache, which contains all records of an account. Default: `column`. */
  readonly cachedAs?: string;
  /** Returns the records of a scope among those of its account; the same array if all are in the scope. */
  readonly inScope: (cached: readonly Cached[], scope: Scope) => readonly Item[];
  /** Checks a new record in its transaction: throws, or returns the ids of the records that it overrides. */
  readonly check: (transaction: Transaction, scope: Scope, fields: Fields) => Promise<readonly string[]>;
  /** Returns the values of additional columns. */
  readonly columnsOf: (fields: Fields) => Readonly<Record<string, string>>;
  /** Returns the audit entry of a change, without the members of `stamp`. */
  readonly changeOf: (scope: Scope, states: States<Item>) => object;
  /** Completes a record that was stored before some of its members existed. `completeCached`: one in the cache. */
  readonly complete?: (stored: Item) => Item;
  readonly completeCached?: (cached: Cached) => Cached;
  /** Returns a text that is equal for equivalent creations. */
  readonly canonicalText?: (fields: Fields) => string;
}

/** Records in PostgreSQL whose changes are audited: rules, zone policies, or entries of access lists. */
export class PostgresAuditedRecords<Item extends Fields & Identified, Fields extends object, Cached = Item>
  implements AuditedRecords<Item, Fields>
{
  readonly #parts: StoreParts;
  readonly #options: PostgresRecordsOptions<Item, Fields, Cached>;
  readonly #retryKeys = new IdempotencyRecords();
  /** The records of each account. The stored time of its last change shows whether they are current. */
  readonly collection: CachedCollections<Cached>;

  constructor(parts: StoreParts, options: PostgresRecordsOptions<Item, Fields, Cached>) {
    const { table, column, cachedAs = column, changedAt, listeners, completeCached } = options;
    this.#parts = parts;
    this.#options = options;
    this.collection = new CachedCollections({
      connections: parts.connections,
      snapshots: new SnapshotCache<Cached>(),
      changedAt: (account) =>
        statement(`SELECT ${changedAt} AS at FROM floodgate.accounts WHERE account = $1`, [account]),
      all: (account) =>
        statement(
          `SELECT ${changedAt} AS at, ${cachedAs} AS item FROM floodgate.accounts
            LEFT JOIN floodgate.${table} USING (account) WHERE account = $1 ORDER BY created_on, id`,
          [account],
        ),
      finish: (cached) => Object.freeze(completeCached?.(cached) ?? cached),
    });
    listeners.cached = () => this.collection.cached();
    listeners.add((account) => this.collection.scheduleRead(account));
  }

  async list(scope: Scope): Promise<readonly Item[]> {
    return this.#options.inScope((await this.collection.read(scope[0])) ?? NONE, scope);
  }

  async get(scope: Scope, id: string): Promise<Item | undefined> {
    const { table, column, cachedAs = column, inScope } = this.#options;
    const { where, next } = conditionOf(scope);
    const itemOf = (cached: Cached): Item | undefined => inScope([cached], scope)[0];
    const cached = await this.collection.readOne(scope[0], {
      query: statement(`SELECT ${cachedAs} AS item FROM floodgate.${table} WHERE ${where} AND id = ${next}`, [
        ...scope,
        id,
      ]),
      isIt: (one) => itemOf(one)?.id === id,
    });
    return cached && itemOf(cached);
  }

  async create(scope: Scope, fields: Fields, { actor, retryKey }: Creation): Promise<Created<Item>> {
    const { check, canonicalText = JSON.stringify } = this.#options;
    const retry =
      retryKey === undefined ? undefined : this.#retryKeys.retryOf(scope[0], retryKey, canonicalText(fields));
    const created = await this.#parts.commits.run(scope[0], async (transaction): Promise<Created<Item>> => {
      const first = retry && (await this.#retryKeys.find(transaction, retry));
      if (first !== undefined) {
        // The fingerprint of the request was compared, so the key was used to create a record of this kind.
        const item = this.#complete(first.created as Item);
        return { item, overrides: first.overrides, replayed: true };
      }
      const overrides = await check(transaction, scope, fields);
      const moment = transaction.nextMoment();
      const at = formatTimestamp(moment);
      const item = { id: randomUUID(), ...fields, created_on: at, modified_on: at } as Item; // an item has no other members
      const change = this.#entryOf(scope, { before: null, after: item }, { moment, actor });
      await transaction.write(this.#insertion(scope, fields, item), [change]);
      if (retry) await this.#retryKeys.keep(transaction, retry, { created: item, overrides, at: moment });
      return { item, overrides, replayed: false };
    });
    if (!created.replayed) this.#options.listeners.notify(scope[0], created.item.modified_on);
    return created;
  }

  async update(scope: Scope, id: string, { decide, actor }: Update<Item>): Promise<Item | undefined> {
    const { table, column, listeners } = this.#options;
    const { where, next } = conditionOf(scope);
    const sql = `UPDATE floodgate.${table} SET ${column} = $${scope.length + 2} WHERE ${where} AND id = ${next}`;
    let changed = false;
    const item = await this.#parts.commits.run(scope[0], async (transaction) => {
      const [before] = await this.#read(transaction, scope, id);
      const settings = before && decide(before);
      changed = settings !== undefined && Object.keys(settings).length > 0;
      if (before === undefined || !changed) return before;
      const moment = transaction.nextMoment();
      const after: Item = { ...before, ...settings, modified_on: formatTimestamp(moment) };
      const change = this.#entryOf(scope, { before, after }, { moment, actor });
      await transaction.write(statement(sql, [...scope, id, JSON.stringify(after)]), [change]);
      return after;
    });
    if (item !== undefined && changed) listeners.notify(scope[0], item.modified_on);
    return item;
  }

  async delete(scope: Scope, id: string, { check, actor }: Deletion<Item>): Promise<boolean> {
    const deleted = await this.#delete(scope, actor, async (transaction) => {
      const items = await this.#read(transaction, scope, id);
      for (const item of items) check(item);
      return items;
    });
    return deleted > 0;
  }

  deleteAll(scope: Scope, actor: Actor): Promise<number> {
    return this.#delete(scope, actor, (transaction) => this.#read(transaction, scope));
  }

  onChange(listener: (accountId: string) => void): () => void {
    return this.#options.listeners.add(listener);
  }

  /** Deletes the records that `find` returns, each with a unique time. Returns their number. */
  async #delete(
    scope: Scope,
    actor: Actor,
    find: (transaction: Transaction) => Promise<readonly Item[]>,
  ): Promise<number> {
    const { table, listeners } = this.#options;
    const { where, next } = conditionOf(scope);
    const sql = `DELETE FROM floodgate.${table} WHERE ${where} AND id = ANY(${next})`;
    const changes = await this.#parts.commits.run(scope[0], async (transaction) => {
      const items = await find(transaction);
      if (items.length === 0) return [];
      const first = transaction.nextMoment(items.length);
      const deletions = items.map((before, index) =>
        this.#entryOf(scope, { before, after: null }, { moment: first + index, actor }),
      );
      await transaction.write(statement(sql, [...scope, items.map(({ id }) => id)]), deletions);
      return deletions;
    });
    const last = changes.at(-1);
    if (last !== undefined) listeners.notify(scope[0], last.at);
    return changes.length;
  }

  async #read(transaction: Transaction, scope: Scope, id?: string): Promise<readonly Item[]> {
    const { table, column } = this.#options;
    const { where, next } = conditionOf(scope);
    const sql = `SELECT ${column} AS item FROM floodgate.${table} WHERE ${where}`;
    const query =
      id === undefined
        ? statement<{ item: Item }>(`${sql} ORDER BY created_on, id`, scope)
        : statement<{ item: Item }>(`${sql} AND id = ${next}`, [...scope, id]);
    return (await transaction.read(query)).map(({ item }) => this.#complete(item));
  }

  #insertion([account, list]: Scope, fields: Fields, item: Item) {
    const { table, column, columnsOf } = this.#options;
    const row = {
      account,
      ...(list !== undefined && { list }),
      id: item.id,
      created_on: item.created_on,
      ...columnsOf(fields),
      [column]: JSON.stringify(item),
    };
    const names = Object.keys(row);
    return statement(
      `INSERT INTO floodgate.${table} (${names}) VALUES (${names.map((_, index) => `$${index + 1}`)})`,
      Object.values(row),
    );
  }

  #entryOf(
    scope: Scope,
    states: States<Item>,
    { moment, actor }: { readonly moment: number; readonly actor: Actor },
  ): AuditEntry {
    return { ...stamp(moment, actor), ...this.#options.changeOf(scope, states) } as AuditEntry; // of `changeOf`
  }

  #complete(stored: Item): Item {
    return this.#options.complete?.(stored) ?? stored;
  }
}

/** Returns the SQL condition for a scope, whose members are the first parameters, and the next parameter. */
const conditionOf = ({ length }: Scope) =>
  length === 1
    ? ({ where: 'account = $1', next: '$2' } as const)
    : ({ where: 'account = $1 AND list = $2', next: '$3' } as const);
