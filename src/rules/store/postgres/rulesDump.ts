/**
 * Reads and writes the records of the rules database as JSON, for `floodgate store copy`. Data of the guards and last
 * uses of tokens are omitted.
 */
import type { Log } from '../../../platform/logging/index.ts';
import { type StoreDump, StoreNotEmpty, type StoreRecord, type TableName, targetOf } from '../../index.ts';
import { CHANGE_CHANNEL } from './changeFeed.ts';
import type { Connection } from './connection/connection.ts';
import { Connections } from './connection/connections.ts';
import { rowsOf, statement } from './connection/statement.ts';
import { prepareSchema } from './schema.ts';

const RECORDS_PER_FETCH = 500;
/** Turns off the timeouts for statements and idle transactions, because the other store of the copy may be slow. */
const NO_TIMEOUT = 'SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0';

/** For each table, SQL that selects its records, and SQL that inserts the rows of `records` into it. */
const TABLES: Readonly<Record<TableName, { readonly select: string; readonly insert: string }>> = {
  clock: {
    select: `'clock' AS key, json_build_object('moment', moment, 'behindSince', behind_since) AS value FROM floodgate.clock`,
    insert: `UPDATE floodgate.clock SET behind_since = (value->>'behindSince')::bigint, (moment, tokens_changed_at, keys_changed_at)
      = (SELECT m, m, m FROM (SELECT (value->>'moment')::bigint AS m) AS moments) FROM records`,
  },
  rules: {
    select: 'json_build_array(account, id) AS key, rule AS value FROM floodgate.rules',
    insert: `INSERT INTO floodgate.rules SELECT key->>0, key->>1, target, value->>'created_on', value FROM records`,
  },
  listEntries: {
    select: 'json_build_array(account, list, id) AS key, entry AS value FROM floodgate.list_entries',
    insert: `INSERT INTO floodgate.list_entries
      SELECT key->>0, key->>1, key->>2, value->>'created_on', value FROM records`,
  },
  tokens: {
    select: 'hash AS key, token AS value FROM floodgate.tokens',
    insert: `INSERT INTO floodgate.tokens SELECT value->>'hash', value->>'id', value->>'created_on', value FROM records`,
  },
  firstAnswers: {
    select: `json_build_array(account, key) AS key, json_build_object('at', at, 'wallClock', wall_clock,
      'fingerprint', fingerprint, 'rule', rule, 'overrides', overrides) AS value FROM floodgate.idempotency_keys`,
    insert: `INSERT INTO floodgate.idempotency_keys SELECT key->>0, key->>1, (value->>'at')::bigint,
      (value->>'wallClock')::bigint, value->>'fingerprint', value->'rule', value->'overrides' FROM records`,
  },
  audit: {
    select: 'at AS key, entry AS value FROM floodgate.audit',
    insert: `INSERT INTO floodgate.audit
      SELECT key::text::bigint, value->>'account', value->>'rule', value FROM records`,
  },
  gatewayKeys: {
    select: 'hash AS key, key AS value FROM floodgate.gateway_keys',
    insert: `INSERT INTO floodgate.gateway_keys SELECT key#>>'{}', 0, value FROM records`,
  },
};
/** Derives the tables and columns that are not copied, and notifies servers that use the database. */
const FINISH = `
  INSERT INTO floodgate.accounts SELECT account, coalesce(max(at) FILTER (WHERE rule IS NOT NULL), 0),
    coalesce(max(at) FILTER (WHERE rule IS NULL), 0) FROM floodgate.audit WHERE account IS NOT NULL GROUP BY account;
  UPDATE floodgate.gateway_keys SET changed_at = moment FROM floodgate.clock;
  SELECT pg_notify('${CHANGE_CHANNEL}', '')`;
const IS_EMPTY = `SELECT moment = 0 AND NOT EXISTS (SELECT FROM floodgate.gateway_keys) AS is_empty
  FROM floodgate.clock FOR UPDATE`;

/**
 * Returns the rules store in the database at a URL. Its methods create missing tables, and throw `StoreUnavailable`
 * and `BadStoreAddress`.
 */
export function rulesDump(url: string, { log }: { readonly log: Log }): StoreDump {
  const transaction = async (mode: string, use: (connection: Connection) => Promise<void>): Promise<void> => {
    const connections = new Connections(url, { log });
    try {
      await prepareSchema(connections);
      await connections.borrow(async (connection) => {
        await connection.command(`BEGIN ${mode}; ${NO_TIMEOUT}`);
        await use(connection);
        await connection.command('COMMIT');
      });
    } finally {
      await connections.close();
    }
  };
  return {
    read: (use) =>
      transaction('ISOLATION LEVEL REPEATABLE READ READ ONLY', (connection) => use(batchesIn(connection))),
    fill: (batches) =>
      transaction('', async (connection) => {
        const [clock] = await rowsOf<{ is_empty: boolean }>(connection, IS_EMPTY);
        if (!clock?.is_empty) throw new StoreNotEmpty('The rules database is not empty: copy into a new one');
        for await (const batch of batches) await insert(connection, batch);
        await connection.command(FINISH);
      }),
  };
}

async function* batchesIn(connection: Connection): AsyncGenerator<readonly StoreRecord[]> {
  for (const [table, { select }] of Object.entries(TABLES)) {
    await connection.command(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${select}`);
    for (;;) {
      const rows = await rowsOf<object>(connection, `FETCH ${RECORDS_PER_FETCH} FROM copied`);
      if (rows.length === 0) break;
      yield rows.map((row) => ({ table, ...row }) as StoreRecord); // with the types of its table
    }
    await connection.command('CLOSE copied');
  }
}

async function insert(connection: Connection, batch: readonly StoreRecord[]): Promise<void> {
  const rows = batch.map((record) =>
    record.table === 'rules' ? { ...record, target: targetOf(record.value) } : record,
  );
  const records = 'SELECT * FROM json_to_recordset($1) AS r (key json, value json, target text)';
  for (const { table } of batch.slice(0, 1))
    await connection.query(
      statement(`WITH records AS (${records}) ${TABLES[table].insert}`, [JSON.stringify(rows)]),
    );
}
