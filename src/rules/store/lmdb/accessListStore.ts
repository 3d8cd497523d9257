import { randomUUID } from 'node:crypto';
import {
  type AccessEntry,
  type AccessListKey,
  type AccessListStore,
  type Actor,
  type EntrySettings,
  formatTimestamp,
  type ListChange,
  MAX_ENTRIES_PER_LIST,
  type Micros,
  type NewAccessEntry,
  stamp,
  TooManyEntries,
} from '../../index.ts';
import { RulesChangeFeed } from './changeFeed.ts';
import { auditWrite, type RulesEnvironment } from './environment.ts';
import type { Write } from './groupCommit.ts';

/** Sorts after every entry id, which is a UUID. */
const LAST_ID = '\uffff';

/** Access lists in LMDB. The entries are keyed by account, list and entry id. */
export class LmdbAccessListStore implements AccessListStore {
  readonly #environment: RulesEnvironment;
  readonly #feed: RulesChangeFeed;

  constructor(environment: RulesEnvironment) {
    this.#environment = environment;
    this.#feed = new RulesChangeFeed(environment, environment.lists);
  }

  async entries(key: AccessListKey): Promise<readonly AccessEntry[]> {
    this.#environment.refresh();
    return this.#scan(key);
  }

  async get({ accountId, list }: AccessListKey, id: string): Promise<AccessEntry | undefined> {
    this.#environment.refresh();
    return this.#environment.listEntries.get([accountId, list, id]);
  }

  async create(key: AccessListKey, fields: NewAccessEntry, actor: Actor): Promise<AccessEntry> {
    const entry = await this.#environment.commits.run(() => {
      const count = this.#environment.lists.get(key.accountId)?.counts[key.list] ?? 0;
      if (count >= MAX_ENTRIES_PER_LIST) throw new TooManyEntries(key.list, MAX_ENTRIES_PER_LIST);
      const moment = this.#environment.nextMoment();
      const at = formatTimestamp(moment);
      const { comment, enabled, ...subject } = fields;
      const after: AccessEntry = {
        id: randomUUID(),
        ...subject,
        comment,
        enabled,
        created_on: at,
        modified_on: at,
      };
      return { result: after, writes: this.#writesOf(key, [{ before: null, after }], { moment, actor }) };
    });
    this.#tell(key.accountId);
    return entry;
  }

  async update(
    key: AccessListKey,
    id: string,
    { decide, actor }: { readonly decide: (stored: AccessEntry) => EntrySettings; readonly actor: Actor },
  ): Promise<AccessEntry | undefined> {
    const { after, changed } = await this.#environment.commits.run<Updated>(() => {
      const before = this.#environment.listEntries.get([key.accountId, key.list, id]);
      const settings = before === undefined ? {} : decide(before);
      if (before === undefined || Object.keys(settings).length === 0)
        return { result: { after: before, changed: false }, writes: [] };
      const moment = this.#environment.nextMoment();
      const entry = { ...before, ...settings, modified_on: formatTimestamp(moment) };
      const writes = this.#writesOf(key, [{ before, after: entry }], { moment, actor });
      return { result: { after: entry, changed: true }, writes };
    });
    if (changed) this.#tell(key.accountId);
    return after;
  }

  async delete(
    key: AccessListKey,
    id: string,
    { check, actor }: { readonly check: (stored: AccessEntry) => void; readonly actor: Actor },
  ): Promise<boolean> {
    const deleted = await this.#environment.commits.run(
      () => {
        const before = this.#environment.listEntries.get([key.accountId, key.list, id]);
        if (before === undefined) return { result: false, writes: [] };
        check(before);
        return { result: true, writes: this.#deletionOf(key, [before], actor) };
      },
      { makesRoom: true },
    );
    if (deleted) this.#tell(key.accountId);
    return deleted;
  }

  async deleteAll(key: AccessListKey, actor: Actor): Promise<number> {
    const deleted = await this.#environment.commits.run(
      () => {
        const entries = this.#scan(key);
        return {
          result: entries.length,
          writes: entries.length === 0 ? [] : this.#deletionOf(key, entries, actor),
        };
      },
      { makesRoom: true },
    );
    if (deleted > 0) this.#tell(key.accountId);
    return deleted;
  }

  onChange(listener: (accountId: string) => void): () => void {
    return this.#feed.listen(listener);
  }

  close(): void {
    this.#feed.stop();
  }

  #deletionOf(key: AccessListKey, entries: readonly AccessEntry[], actor: Actor): Write[] {
    const changes = entries.map((before) => ({ before, after: null }));
    return this.#writesOf(key, changes, { moment: this.#environment.nextMoment(), actor });
  }

  /**
   * Returns the records to write for changes of a list: entries, list state, audit entries and clock. Each change
   * gets a unique time.
   */
  #writesOf(
    { accountId, list }: AccessListKey,
    changes: readonly EntryChange[],
    { moment: firstMoment, actor }: { readonly moment: Micros; readonly actor: Actor },
  ): Write[] {
    const { listEntries, lists } = this.#environment;
    const writes: Write[] = [];
    let added = 0;
    for (const [index, change] of changes.entries()) {
      const moment = firstMoment + index;
      const entry = (change.after ?? change.before)?.id ?? '';
      const key = [accountId, list, entry];
      writes.push({ database: listEntries, key, ...(change.after && { value: change.after }) });
      const subject = { action: actionOf(change), account: accountId, list, entry };
      const audited: ListChange = { ...stamp(moment, actor), ...subject, ...change };
      writes.push(auditWrite(this.#environment, moment, audited));
      added += (change.after ? 1 : 0) - (change.before ? 1 : 0);
    }
    const changedAt = firstMoment + changes.length - 1;
    const counts = lists.get(accountId)?.counts ?? {};
    const value = { counts: { ...counts, [list]: (counts[list] ?? 0) + added }, changedAt };
    writes.push({ database: lists, key: accountId, value }, this.#environment.clockAt(changedAt));
    return writes;
  }

  #scan({ accountId, list }: AccessListKey): AccessEntry[] {
    const range = { start: [accountId, list], end: [accountId, list, LAST_ID] };
    return [...this.#environment.listEntries.getRange(range)].map(({ value }) => value).sort(byCreation);
  }

  #tell(accountId: string): void {
    this.#feed.notify(accountId, this.#environment.lists.get(accountId)?.changedAt ?? 0);
  }
}

interface Updated {
  readonly after: AccessEntry | undefined;
  readonly changed: boolean;
}

interface EntryChange {
  readonly before: AccessEntry | null;
  readonly after: AccessEntry | null;
}

function actionOf({ before, after }: EntryChange): ListChange['action'] {
  if (before === null) return 'list.create';
  return after === null ? 'list.delete' : 'list.update';
}

function byCreation(a: AccessEntry, b: AccessEntry): number {
  if (a.created_on !== b.created_on) return a.created_on < b.created_on ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
