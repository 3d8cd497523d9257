/** All records of a store of rules in PostgreSQL, read and written as they are, for copying them. */
import type { Log } from '../../../platform/logging/index.ts';
import { parseTimestamp, StoreNotEmpty, type StoreRecord, targetOf, type WholeStore } from '../../index.ts';
import { NOTICES } from './changeFeed.ts';
import type { Connection } from './connection.ts';
import { Connections } from './connections.ts';
import { migrate } from './migrations.ts';
import { statement } from './statement.ts';

const RECORDS_PER_READ = 500;
const RECORDS_PER_WRITE = 500;

/** The other store may be slow; the steps of this one are small. */
const UNHURRIED = 'SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0';
/** As `StoreRecord` has them, to the order of members. */
const CURSOR = `DECLARE records NO SCROLL CURSOR FOR
  SELECT json_build_object('kind', 'clock', 'moment', moment, 'behindSince', behind_since) AS record FROM floodgate.clock
  UNION ALL SELECT json_build_object('kind', 'account', 'account', account, 'rules', rules_changed_at, 'lists', lists_changed_at)
    FROM floodgate.accounts
  UNION ALL SELECT json_build_object('kind', 'rule', 'account', account, 'rule', rule) FROM floodgate.rules
  UNION ALL SELECT json_build_object('kind', 'entry', 'account', account, 'list', list, 'entry', entry) FROM floodgate.list_entries
  UNION ALL SELECT json_build_object('kind', 'token', 'token', token) FROM floodgate.tokens
  UNION ALL SELECT json_build_object('kind', 'answer', 'account', account, 'key', key, 'at', at, 'wallClock', wall_clock,
    'fingerprint', fingerprint, 'rule', rule, 'overrides', overrides) FROM floodgate.first_answers
  UNION ALL SELECT json_build_object('kind', 'key', 'hash', hash, 'key', key) FROM floodgate.gateway_keys
  UNION ALL SELECT json_build_object('kind', 'change', 'entry', entry) FROM floodgate.audit`;
const FETCH = `FETCH FORWARD ${RECORDS_PER_READ} FROM records`;

const IS_EMPTY = `SELECT moment = 0 AND NOT EXISTS (SELECT FROM floodgate.gateway_keys) AS is_empty
  FROM floodgate.clock FOR UPDATE`;
const SET_CLOCK = `WITH told AS (SELECT pg_notify('${NOTICES}', ''))
  UPDATE floodgate.clock SET moment = $1, tokens_changed_at = $1, keys_changed_at = $1, behind_since = $2 FROM told`;

type Kind = Exclude<StoreRecord['kind'], 'clock'>;
type RecordOf<K extends Kind> = Extract<StoreRecord, { kind: K }>;

/** How records of a kind are written: the types of the columns, and what stands in them. */
interface Writer<K extends Kind> {
  readonly into: string;
  readonly columns: string;
  readonly row: (record: RecordOf<K>) => readonly unknown[];
}

const json = JSON.stringify;
const WRITERS: { readonly [K in Kind]: Writer<K> } = {
  account: {
    into: 'accounts (account, rules_changed_at, lists_changed_at)',
    columns: 'text bigint bigint',
    row: ({ account, rules, lists }) => [account, rules, lists],
  },
  rule: {
    into: 'rules (account, id, target, created_on, rule)',
    columns: 'text text text text json',
    row: ({ account, rule }) => [account, rule.id, targetOf(rule), rule.created_on, json(rule)],
  },
  entry: {
    into: 'list_entries (account, list, id, created_on, entry)',
    columns: 'text text text text json',
    row: ({ account, list, entry }) => [account, list, entry.id, entry.created_on, json(entry)],
  },
  token: {
    into: 'tokens (hash, id, created_on, token)',
    columns: 'text text text json',
    row: ({ token }) => [token.hash, token.id, token.created_on, json(token)],
  },
  answer: {
    into: 'first_answers (account, key, at, wall_clock, fingerprint, rule, overrides)',
    columns: 'text text bigint bigint text json json',
    row: ({ account, key, at, wallClock, fingerprint, rule, overrides }) => [
      ...[account, key, at, wallClock, fingerprint, json(rule), json(overrides)],
    ],
  },
  key: {
    into: 'gateway_keys (hash, changed_at, key)',
    columns: 'text bigint json',
    row: ({ hash, key }) => [hash, 0, json(key)],
  },
  change: {
    into: 'audit (at, account, rule, entry)',
    columns: 'bigint text text json',
    row: ({ entry }) => [
      parseTimestamp(entry.at),
      'account' in entry ? entry.account : null,
      'rule' in entry ? entry.rule : null,
      json(entry),
    ],
  },
};

/** Opens the store as a whole, and makes its tables where they are missing. Throws `StoreUnavailable`, `BadStoreAddress`. */
export async function openWholeRules(url: string, { log }: { readonly log: Log }): Promise<WholeStore> {
  const connections = new Connections(url, { log });
  try {
    await migrate(connections);
  } catch (error) {
    await connections.close();
    throw error;
  }
  return {
    read: (use) =>
      connections.borrow(async (connection) => {
        await connection.command(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${UNHURRIED}`);
        const result = await use(recordsOver(connection));
        await connection.command('ROLLBACK');
        return result;
      }),
    fill: (records, check) =>
      connections.borrow(async (connection) => {
        await connection.command(`BEGIN; ${UNHURRIED}`);
        const [clock] = await connection.query(statement<{ is_empty: boolean }>(IS_EMPTY));
        if (!clock?.is_empty) throw new StoreNotEmpty('The database of rules');
        await write(connection, records);
        await check(recordsOver(connection));
        await connection.command('COMMIT');
      }),
    close: () => connections.close(),
  };
}

async function* recordsOver(connection: Connection): AsyncGenerator<StoreRecord> {
  await connection.command(CURSOR);
  for (;;) {
    const rows = await connection.query(statement<{ record: StoreRecord }>(FETCH));
    for (const { record } of rows) yield record;
    if (rows.length < RECORDS_PER_READ) break;
  }
  await connection.command('CLOSE records');
}

async function write(connection: Connection, records: AsyncIterable<StoreRecord>): Promise<void> {
  const waiting = new Map<Kind, (readonly unknown[])[]>();
  const flush = async (kind: Kind): Promise<void> => {
    const rows = waiting.get(kind) ?? [];
    waiting.delete(kind);
    const { into, columns } = WRITERS[kind];
    const types = columns.split(' ');
    const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
    await connection.query(
      statement(
        `INSERT INTO floodgate.${into} SELECT * FROM unnest(${arrays})`,
        types.map((_, index) => rows.map((row) => row[index])),
      ),
    );
  };
  for await (const record of records) {
    if (record.kind === 'clock') {
      await connection.query(statement(SET_CLOCK, [record.moment, record.behindSince]));
      continue;
    }
    const { row } = WRITERS[record.kind] as Writer<Kind>; // the one for this kind
    const rows = waiting.get(record.kind) ?? [];
    rows.push(row(record));
    waiting.set(record.kind, rows);
    if (rows.length >= RECORDS_PER_WRITE) await flush(record.kind);
  }
  for (const kind of [...waiting.keys()]) await flush(kind);
  // As a change after all: every instance reads them.
  await connection.query(
    statement('UPDATE floodgate.gateway_keys SET changed_at = (SELECT moment FROM floodgate.clock)'),
  );
}
