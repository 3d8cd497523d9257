/** Reads and writes the records of a rules store in LMDB, for `floodgate store copy`. Omits last uses of tokens. */
import type { Database, Key } from 'lmdb';
import { accessLists, type Batches, type StoreRecord, StoreUnavailable, targetOf } from '../../index.ts';
import { type AccountState, type ListsState, RulesEnvironment } from './environment.ts';
import type { Write } from './groupCommit.ts';

const TABLES = ['rules', 'listEntries', 'tokens', 'firstAnswers', 'audit'] as const;
const RECORDS_PER_PAGE = 1000;
/** Sorts after every id of a rule or entry. */
const LAST_ID = '\uffff';

/** Yields the records in batches. Throws `StoreUnavailable` at the end if the store was changed during the read. */
export async function* readRules(folder: string): AsyncGenerator<readonly StoreRecord[]> {
  const environment = RulesEnvironment.open(folder);
  try {
    const { changedAt: moment, behindSince = null } = environment;
    yield [{ table: 'clock', key: 'clock', value: { moment, behindSince } }];
    for (const table of TABLES)
      for (const page of pagesOf(environment[table] as Database<unknown, Key>))
        yield page.map((record) => ({ table, ...record }) as StoreRecord); // has the types of the table
    environment.refresh();
    if (environment.changedAt !== moment)
      throw new StoreUnavailable('The rules were changed while they were copied: try again');
  } finally {
    await environment.close();
  }
}

/** Reads a database in pages, so that no read transaction stays open while the target of the copy is written. */
function* pagesOf<V, K extends Key>(database: Database<V, K>): Generator<{ key: K; value: V }[]> {
  let start: K | undefined;
  do {
    const range = start === undefined ? {} : { start, exclusiveStart: true };
    const page = [...database.getRange({ ...range, limit: RECORDS_PER_PAGE })];
    start = page.at(-1)?.key;
    if (page.length > 0) yield page.map(({ key, value }) => ({ key, value }));
  } while (start !== undefined);
}

export async function writeRules(folder: string, batches: Batches): Promise<void> {
  const environment = RulesEnvironment.open(folder);
  const commit = (writes: readonly Write[]) => environment.commits.run(() => ({ result: undefined, writes }));
  try {
    for await (const batch of batches) await commit(batch.flatMap((record) => writesOf(environment, record)));
    await commit(accountWrites(environment));
  } finally {
    await environment.close();
  }
}

function writesOf(environment: RulesEnvironment, record: StoreRecord): Write[] {
  const { table, key, value } = record;
  if (table === 'clock') return environment.clockWrites(value.moment, value.behindSince);
  if (table === 'gatewayKeys') return [];
  const writes = [put(environment[table] as Database, key, value)];
  if (table === 'rules') writes.push(put(environment.targets, [key[0], targetOf(value), key[1]], true));
  if (table === 'tokens') writes.push(put(environment.tokenIds, value.id, key));
  if (table === 'firstAnswers') writes.push(put(environment.firstAnswerAges, value.at, key));
  return writes;
}

const put = (database: Database, key: unknown, value: unknown): Write => ({
  ...{ database, key: key as Write['key'], value }, // readonly
});

/** Returns the writes of the states of accounts and lists, which are derived from audit log, rules and entries. */
function accountWrites(environment: RulesEnvironment): Write[] {
  const { rules, listEntries, audit } = environment;
  environment.refresh();
  const within = (...start: string[]) => ({ start, end: [...start, LAST_ID] });
  const accounts = new Map<string, AccountState>();
  const lists = new Map<string, ListsState>();
  for (const page of pagesOf(audit))
    for (const { key: changedAt, value: entry } of page)
      if ('rule' in entry) accounts.set(entry.account, { count: 0, changedAt });
      else if ('list' in entry) lists.set(entry.account, { counts: {}, changedAt });
  return [
    ...[...accounts].map(([account, { changedAt }]) =>
      put(environment.accounts, account, { count: rules.getKeysCount(within(account)), changedAt }),
    ),
    ...[...lists].map(([account, { changedAt }]) => {
      const names = Object.keys(accessLists);
      const counts = names.map((list) => [list, listEntries.getKeysCount(within(account, list))]);
      return put(environment.lists, account, { counts: Object.fromEntries(counts), changedAt });
    }),
  ];
}
