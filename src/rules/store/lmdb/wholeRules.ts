/** All records of a store of rules in LMDB, read and written as they are, for copying them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Database, Key } from 'lmdb';
import {
  type AccessListName,
  type AccountRecord,
  parseTimestamp,
  type StoreRecord,
  StoreUnavailable,
  targetOf,
} from '../../index.ts';
import { auditWrite, type FirstAnswer, RulesEnvironment } from './environment.ts';
import type { Write } from './groupCommit.ts';

const RECORDS_PER_READ = 1000;
/** Writes of one commit. */
const WRITES_PER_COMMIT = 5000;

/** In the data folder while a copy into it is not whole: nothing opens its stores of rules then. */
const UNFINISHED_FILE = 'store-copy.unfinished';

export const unfinishedFile = (dataDir: string): string => join(dataDir, UNFINISHED_FILE);

/** Throws `StoreUnavailable` where a copy into a data folder was broken off. */
export function assertFinished(dataDir: string): void {
  if (existsSync(unfinishedFile(dataDir)))
    throw new StoreUnavailable(
      `A copy into ${dataDir} was broken off, and there is only a part of it: run \`floodgate store copy\` again`,
    );
}

export class WholeRules {
  readonly #environment: RulesEnvironment;

  constructor(dataDir: string) {
    this.#environment = RulesEnvironment.open(join(dataDir, 'rules'));
  }

  /** Whether nothing was ever written. */
  get isEmpty(): boolean {
    return this.#environment.changedAt === 0;
  }

  /** Throws `StoreUnavailable` in the end where somebody wrote meanwhile: what was given is not of one moment then. */
  *read(): Generator<StoreRecord> {
    const environment = this.#environment;
    environment.refresh();
    const moment = environment.changedAt;
    yield { kind: 'clock', moment, behindSince: environment.behindSince ?? null };
    yield* this.#accounts();
    for (const { key, value } of recordsOf(environment.rules))
      yield { kind: 'rule', account: key[0] ?? '', rule: value };
    for (const { key, value } of recordsOf(environment.listEntries))
      yield { kind: 'entry', account: key[0] ?? '', list: key[1] ?? '', entry: value };
    for (const { value } of recordsOf(environment.tokens)) yield { kind: 'token', token: value };
    for (const { key, value } of recordsOf(environment.firstAnswers)) yield answerOf(key, value);
    for (const { value } of recordsOf(environment.audit)) yield { kind: 'change', entry: value };
    environment.refresh();
    if (environment.changedAt !== moment)
      throw new StoreUnavailable('The rules were changed while they were copied: try again');
  }

  /** Into a store that is empty. Not one transaction: whoever calls marks it as unfinished meanwhile. */
  async write(records: AsyncIterable<Exclude<StoreRecord, { kind: 'key' }>>): Promise<void> {
    const { commits } = this.#environment;
    const accounts = new Map<string, AccountRecord>();
    const held = new Counts();
    let writes: Write[] = [];
    const commit = async (): Promise<void> => {
      const written = writes;
      writes = [];
      await commits.run(() => ({ result: undefined, writes: written }));
    };
    for await (const record of records) {
      if (record.kind === 'account') accounts.set(record.account, record);
      else writes.push(...this.#writesOf(record));
      held.add(record);
      if (writes.length >= WRITES_PER_COMMIT) await commit();
    }
    for (const { account, rules, lists } of accounts.values()) {
      const count = held.rules.get(account) ?? 0;
      if (rules > 0)
        writes.push({
          database: this.#environment.accounts,
          key: account,
          value: { count, changedAt: rules },
        });
      const counts = held.lists.get(account) ?? {};
      if (lists > 0)
        writes.push({ database: this.#environment.lists, key: account, value: { counts, changedAt: lists } });
    }
    await commit();
  }

  close(): Promise<void> {
    return this.#environment.close();
  }

  *#accounts(): Generator<AccountRecord> {
    const { accounts, lists } = this.#environment;
    for (const { key, value } of recordsOf(accounts))
      yield {
        ...{ kind: 'account', account: key, rules: value.changedAt },
        lists: lists.get(key)?.changedAt ?? 0,
      };
    for (const { key, value } of recordsOf(lists))
      if (accounts.get(key) === undefined)
        yield { kind: 'account', account: key, rules: 0, lists: value.changedAt };
  }

  #writesOf(record: Exclude<StoreRecord, { kind: 'key' | 'account' }>): Write[] {
    const environment = this.#environment;
    switch (record.kind) {
      case 'clock':
        return environment.clockWrites(record.moment, record.behindSince);
      case 'rule': {
        const { account, rule } = record;
        return [
          { database: environment.rules, key: [account, rule.id], value: rule },
          { database: environment.targets, key: [account, targetOf(rule), rule.id], value: true },
        ];
      }
      case 'entry': {
        const { account, list, entry } = record;
        return [{ database: environment.listEntries, key: [account, list, entry.id], value: entry }];
      }
      case 'token': {
        const { token } = record;
        return [
          { database: environment.tokens, key: token.hash, value: token },
          { database: environment.tokenIds, key: token.id, value: token.hash },
        ];
      }
      case 'change':
        return [auditWrite(environment, parseTimestamp(record.entry.at), record.entry)];
      case 'answer': {
        const { account, key, at, wallClock, fingerprint, rule, overrides } = record;
        const value: FirstAnswer = { at, wallClock, fingerprint, rule, overrides };
        return [
          { database: environment.firstAnswers, key: [account, key], value },
          { database: environment.firstAnswerAges, key: at, value: [account, key] },
        ];
      }
    }
  }
}

/** How many rules accounts have, and entries their lists. */
class Counts {
  readonly rules = new Map<string, number>();
  readonly lists = new Map<string, Partial<Record<AccessListName, number>>>();

  add(record: StoreRecord): void {
    if (record.kind === 'rule') this.rules.set(record.account, (this.rules.get(record.account) ?? 0) + 1);
    if (record.kind !== 'entry') return;
    const list = record.list as AccessListName; // as a store gave it
    const counts = this.lists.get(record.account) ?? {};
    this.lists.set(record.account, { ...counts, [list]: (counts[list] ?? 0) + 1 });
  }
}

/** Older answers have no wall clock: theirs was that of their moment. */
const answerOf = (
  [account = '', key = '']: string[],
  { at, wallClock = at, fingerprint, rule, overrides }: FirstAnswer,
): StoreRecord => ({ kind: 'answer', account, key, at, wallClock, fingerprint, rule, overrides });

/** Of a database, in pieces: between two of them others have their turn. */
function* recordsOf<V, K extends Key>(database: Database<V, K>): Generator<{ key: K; value: V }> {
  let last: K | undefined;
  for (;;) {
    const range = last === undefined ? {} : { start: last, exclusiveStart: true };
    const records = [...database.getRange({ ...range, limit: RECORDS_PER_READ })];
    yield* records;
    last = records.at(-1)?.key;
    if (records.length < RECORDS_PER_READ) return;
  }
}
