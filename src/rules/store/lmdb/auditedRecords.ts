import { randomUUID } from 'node:crypto';
import { setImmediate as immediate } from 'node:timers/promises';
import type { Database } from 'lmdb';
import {
  type Actor,
  type AuditEntry,
  type AuditedRecords,
  type Created,
  type Creation,
  type Deletion,
  formatTimestamp,
  type Identified,
  type Micros,
  type Scope,
  SnapshotCache,
  type States,
  stamp,
  type Update,
} from '../../index.ts';
import { RulesChangeFeed } from './changeFeed.ts';
import { auditWrite, type RulesEnvironment } from './environment.ts';
import type { Write } from './groupCommit.ts';
import { IdempotencyRecords } from './idempotencyRecords.ts';

/** Sorts after every id, which is a UUID. */
const LAST_ID = '\uffff';
const NONE: readonly never[] = Object.freeze([]);

export interface LmdbAuditedRecordsOptions<Item, Fields, State> {
  /** Records by scope and id. */
  readonly records: Database<Item, string[]>;
  readonly states: Database<State & { readonly changedAt: Micros }, string>;
  /** Checks a new record in its transaction: throws, or returns the ids of the records that it overrides. */
  readonly check: (scope: Scope, fields: Fields) => readonly string[];
  /** Returns the state of an account after `added` more records were stored in a scope. */
  readonly stateOf: (scope: Scope, before: State | undefined, added: number) => State;
  /** Returns the audit entry of a change, without the members of `stamp`. */
  readonly changeOf: (scope: Scope, states: States<Item>) => object;
  /** Returns the record of an index that leads to an item. It is the same for all states of the item. */
  readonly indexOf?: (account: string, item: Item) => Required<Write>;
  /** Completes an item that was stored before some of its members existed. */
  readonly complete?: (stored: Item) => Item;
  /** Returns a text that is equal for equivalent creations. */
  readonly canonicalText?: (fields: Fields) => string;
}

/** Records in LMDB whose changes are audited: rules, zone policies, or entries of access lists. */
export class LmdbAuditedRecords<Item extends Fields & Identified, Fields extends object, State extends object>
  implements AuditedRecords<Item, Fields>
{
  readonly #environment: RulesEnvironment;
  readonly #options: LmdbAuditedRecordsOptions<Item, Fields, State>;
  readonly #firstAnswers: IdempotencyRecords;
  readonly #snapshots = new SnapshotCache<Item>();
  readonly #feed: RulesChangeFeed;

  constructor(environment: RulesEnvironment, options: LmdbAuditedRecordsOptions<Item, Fields, State>) {
    this.#environment = environment;
    this.#options = options;
    this.#firstAnswers = new IdempotencyRecords(environment);
    this.#feed = new RulesChangeFeed(environment, options.states);
  }

  async list(scope: Scope): Promise<readonly Item[]> {
    this.#environment.refresh();
    const changedAt = this.#options.states.get(scope[0])?.changedAt;
    if (changedAt === undefined) return NONE;
    const key = scope.join('/');
    const known = this.#snapshots.get(key, changedAt);
    if (known) return known;
    const items = Object.freeze(this.#scan(scope));
    this.#snapshots.set(key, changedAt, items);
    return items;
  }

  async get(scope: Scope, id: string): Promise<Item | undefined> {
    this.#environment.refresh();
    return this.#find(scope, id);
  }

  async create(scope: Scope, fields: Fields, { actor, retryKey }: Creation): Promise<Created<Item>> {
    const { canonicalText = JSON.stringify, check } = this.#options;
    const retry =
      retryKey === undefined
        ? undefined
        : this.#firstAnswers.retryOf(scope[0], retryKey, canonicalText(fields));
    const created = await this.#environment.commits.run<Created<Item>>(() => {
      const first = retry && this.#firstAnswers.find(retry);
      if (first) {
        // The fingerprint of the request was compared, so the key was used to create a record of this kind.
        const item = this.#complete(first.created as Item);
        return { result: { item, overrides: first.overrides, replayed: true }, writes: [] };
      }
      const overrides = check(scope, fields);
      const moment = this.#environment.nextMoment();
      const at = formatTimestamp(moment);
      const item = { id: randomUUID(), ...fields, created_on: at, modified_on: at } as Item; // an item has no other members
      const writes = this.#writesOf(scope, [{ before: null, after: item }], { moment, actor });
      if (retry) writes.push(...this.#firstAnswers.keep(retry, { created: item, overrides }, moment));
      return { result: { item, overrides, replayed: false }, writes };
    });
    if (!created.replayed) await this.#notify(scope);
    return created;
  }

  async update(scope: Scope, id: string, { decide, actor }: Update<Item>): Promise<Item | undefined> {
    const { after, changed } = await this.#environment.commits.run(() => {
      const before = this.#find(scope, id);
      const settings = before === undefined ? {} : decide(before);
      if (before === undefined || Object.keys(settings).length === 0)
        return { result: { after: before, changed: false }, writes: [] };
      const moment = this.#environment.nextMoment();
      const after: Item = { ...before, ...settings, modified_on: formatTimestamp(moment) };
      const writes = this.#writesOf(scope, [{ before, after }], { moment, actor });
      return { result: { after, changed: true }, writes };
    });
    if (changed) await this.#notify(scope);
    return after;
  }

  async delete(scope: Scope, id: string, { check, actor }: Deletion<Item>): Promise<boolean> {
    const find = (): Item[] => {
      const item = this.#find(scope, id);
      if (item !== undefined) check(item);
      return item === undefined ? [] : [item];
    };
    return (await this.#delete(scope, find, actor)) > 0;
  }

  deleteAll(scope: Scope, actor: Actor): Promise<number> {
    return this.#delete(scope, () => this.#scan(scope), actor);
  }

  onChange(listener: (accountId: string) => void): () => void {
    return this.#feed.listen(listener);
  }

  close(): void {
    this.#feed.stop();
  }

  /** Deletes the records that `find` returns, each with a unique time. Returns their number. */
  async #delete(scope: Scope, find: () => readonly Item[], actor: Actor): Promise<number> {
    const deleted = await this.#environment.commits.run(
      () => {
        const changes = find().map((before) => ({ before, after: null }));
        const moment = this.#environment.nextMoment();
        return { result: changes.length, writes: this.#writesOf(scope, changes, { moment, actor }) };
      },
      { makesRoom: true },
    );
    if (deleted > 0) await this.#notify(scope);
    return deleted;
  }

  /** Returns the writes of changes: records, index, state, audit entries and clock. Each change gets a unique time. */
  #writesOf(
    scope: Scope,
    changes: readonly States<Item>[],
    { moment: first, actor }: { readonly moment: Micros; readonly actor: Actor },
  ): Write[] {
    if (changes.length === 0) return [];
    const { records, states, stateOf, changeOf, indexOf } = this.#options;
    const [account] = scope;
    const writes: Write[] = [];
    let added = 0;
    for (const [index, { before, after }] of changes.entries()) {
      const item = after ?? before;
      if (item === null) continue;
      const moment = first + index;
      writes.push({ database: records, key: [...scope, item.id], ...(after && { value: after }) });
      if (indexOf !== undefined && (before === null || after === null)) {
        const { value, ...removal } = indexOf(account, item);
        writes.push(after === null ? removal : { ...removal, value });
      }
      const entry = { ...stamp(moment, actor), ...changeOf(scope, { before, after }) } as AuditEntry; // of `changeOf`
      writes.push(auditWrite(this.#environment, moment, entry));
      added += (after === null ? 0 : 1) - (before === null ? 0 : 1);
    }
    const changedAt = first + changes.length - 1;
    const value = { ...stateOf(scope, states.get(account), added), changedAt };
    writes.push({ database: states, key: account, value }, this.#environment.clockAt(changedAt));
    return writes;
  }

  #find(scope: Scope, id: string): Item | undefined {
    const stored = this.#options.records.get([...scope, id]);
    return stored && this.#complete(stored);
  }

  #scan(scope: Scope): Item[] {
    const range = { start: [...scope], end: [...scope, LAST_ID] };
    return Array.from(this.#options.records.getRange(range), ({ value }) => this.#complete(value)).sort(
      byCreation,
    );
  }

  #complete(stored: Item): Item {
    return Object.freeze(this.#options.complete?.(stored) ?? stored);
  }

  /**
   * Calls the listeners, and waits while they read the change in microtasks: it is in force in this process before the
   * client learns that it was written.
   */
  async #notify([account]: Scope): Promise<void> {
    this.#feed.notify(account, this.#options.states.get(account)?.changedAt ?? 0);
    await immediate();
  }
}

function byCreation(a: Identified, b: Identified): number {
  if (a.created_on !== b.created_on) return a.created_on < b.created_on ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
