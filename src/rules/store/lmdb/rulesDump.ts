/** Reads and writes the rows of a rules store in LMDB, for `floodgate store copy`. */
import type { Database, Key } from 'lmdb';
import {
  accessLists,
  type Batch,
  type Batches,
  type Micros,
  type StoreRows,
  StoreUnavailable,
  targetOf,
} from '../../index.ts';
import { RulesEnvironment } from './environment.ts';
import type { Write } from './groupCommit.ts';

const RECORDS_PER_PAGE = 1000;
/** Sorts after every id of a rule or entry. */
const LAST_ID = '\uffff';

/** Yields the rows in batches. Throws `StoreUnavailable` at the end if the store was changed during the read. */
export async function* readRules(folder: string): Batches {
  const environment = RulesEnvironment.open(folder);
  try {
    const { changedAt: moment, behindSince: behind_since = null } = environment;
    yield { table: 'clock', rows: [{ moment, behind_since }] };
    yield* batchesOf('rules', environment.rules, ([account = '', id = ''], rule) => {
      return { account, id, target: targetOf(rule), created_on: rule.created_on, rule };
    });
    yield* batchesOf('list_entries', environment.listEntries, ([account = '', list = '', id = ''], entry) => {
      return { account, list, id, created_on: entry.created_on, entry };
    });
    yield* batchesOf('zone_policies', environment.zonePolicies, ([account = '', id = ''], policy) => {
      return { account, id, zone: policy.zone, created_on: policy.created_on, policy };
    });
    yield* batchesOf('tokens', environment.tokens, (hash, token) => {
      return { hash, id: token.id, created_on: token.created_on, token };
    });
    yield* batchesOf('token_uses', environment.tokenUses, (id, used_on) => ({ id, used_on }));
    yield* batchesOf('idempotency_keys', environment.firstAnswers, ([account = '', key = ''], record) => {
      const { wallClock: wall_clock, ...others } = record;
      return { account, key, wall_clock, ...others };
    });
    yield* batchesOf('audit', environment.audit, (at, entry) => {
      const account = 'account' in entry ? entry.account : null;
      return { at, account, rule: 'rule' in entry ? entry.rule : null, entry };
    });
    environment.refresh();
    if (environment.changedAt !== moment)
      throw new StoreUnavailable('The rules were changed while they were copied: try again');
  } finally {
    await environment.close();
  }
}

/** Reads a database in pages, so that no read transaction stays open while the target of the copy is written. */
function* batchesOf<V, K extends Key, T extends Batch['table']>(
  table: T,
  database: Database<V, K>,
  rowOf: (key: K, value: V) => StoreRows[T],
): Generator<Batch> {
  let range = {};
  for (;;) {
    const page = [...database.getRange({ ...range, limit: RECORDS_PER_PAGE })];
    const last = page.at(-1);
    if (last === undefined) return;
    yield { table, rows: page.map(({ key, value }) => rowOf(key, value)) } as Batch; // the rows are of this table
    range = { start: last.key, exclusiveStart: true };
  }
}

export async function writeRules(folder: string, batches: Batches): Promise<void> {
  const environment = RulesEnvironment.open(folder);
  const commit = (writes: readonly Write[]) => environment.commits.run(() => ({ result: undefined, writes }));
  try {
    for await (const batch of batches) await commit(writesOf(environment, batch));
    await commit(accountWrites(environment));
  } finally {
    await environment.close();
  }
}

function writesOf(to: RulesEnvironment, { table, rows }: Batch): Write[] {
  if (table === 'clock') return rows.flatMap((row) => to.clockWrites(row.moment, row.behind_since));
  if (table === 'rules')
    return rows.flatMap(({ account, id, target, rule }) => [
      put(to.rules, [account, id], rule),
      put(to.targets, [account, target, id], true),
    ]);
  if (table === 'list_entries')
    return rows.map(({ account, list, id, entry }) => put(to.listEntries, [account, list, id], entry));
  if (table === 'zone_policies')
    return rows.flatMap(({ account, id, zone, policy }) => [
      put(to.zonePolicies, [account, id], policy),
      put(to.zoneIds, [account, zone], id),
    ]);
  if (table === 'tokens')
    return rows.flatMap(({ hash, id, token }) => [put(to.tokens, hash, token), put(to.tokenIds, id, hash)]);
  if (table === 'token_uses') return rows.map(({ id, used_on }) => put(to.tokenUses, id, used_on));
  if (table === 'idempotency_keys')
    return rows.flatMap(({ account, key, wall_clock: wallClock, ...record }) => [
      put(to.firstAnswers, [account, key], { wallClock, ...record }),
      put(to.firstAnswerAges, record.at, [account, key]),
    ]);
  return table === 'audit' ? rows.map(({ at, entry }) => put(to.audit, at, entry)) : [];
}

/** Returns the writes of the states of accounts, lists and zones, which are derived from the copied rows. */
function accountWrites(environment: RulesEnvironment): Write[] {
  const { rules, listEntries, zonePolicies, audit, accounts, lists, zoneStates } = environment;
  environment.refresh();
  const within = (...start: string[]) => ({ start, end: [...start, LAST_ID] });
  const rulesChangedAt = new Map<string, Micros>();
  const listsChangedAt = new Map<string, Micros>();
  const zonesChangedAt = new Map<string, Micros>();
  for (const { key: changedAt, value: entry } of audit.getRange())
    if ('rule' in entry) rulesChangedAt.set(entry.account, changedAt);
    else if ('list' in entry) listsChangedAt.set(entry.account, changedAt);
    else if ('zone' in entry) zonesChangedAt.set(entry.account, changedAt);
  return [
    ...[...rulesChangedAt].map(([account, changedAt]) =>
      put(accounts, account, { count: rules.getKeysCount(within(account)), changedAt }),
    ),
    ...[...zonesChangedAt].map(([account, changedAt]) =>
      put(zoneStates, account, { count: zonePolicies.getKeysCount(within(account)), changedAt }),
    ),
    ...[...listsChangedAt].map(([account, changedAt]) => {
      const names = Object.keys(accessLists);
      const counts = names.map((list) => [list, listEntries.getKeysCount(within(account, list))]);
      return put(lists, account, { counts: Object.fromEntries(counts), changedAt });
    }),
  ];
}

const put = (database: object, key: Write['key'], value: unknown): Write => ({
  database: database as Database,
  key,
  value, // of any record type
});
