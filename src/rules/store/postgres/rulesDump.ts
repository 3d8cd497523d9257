/** Reads and writes the rows of the rules database, for `floodgate store copy`. Data of the guards is omitted. */
import type { Log } from '../../../platform/logging/index.ts';
import { type Batch, type Batches, type StoreDump, StoreNotEmpty } from '../../index.ts';
import { CHANGE_CHANNEL } from './changeFeed.ts';
import { type Connection, rowsOf } from './connection/connection.ts';
import { Connections } from './connection/connections.ts';
import { statement } from './connection/statement.ts';
import { prepareSchema } from './schema.ts';

const ROWS_PER_FETCH = 500;
/** Turns off the timeouts for statements and idle transactions, because the other store of the copy may be slow. */
const NO_TIMEOUT = 'SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0';
const TABLES: readonly Batch['table'][] = [
  ...([
    'clock',
    'rules',
    'list_entries',
    'zone_policies',
    'tokens',
    'token_uses',
    'idempotency_keys',
  ] as const),
  ...(['audit', 'gateway_keys'] as const),
];
/** The row of this table exists already. */
const SET_CLOCK = `UPDATE floodgate.clock SET moment = r.moment, behind_since = r.behind_since,
  tokens_changed_at = r.moment, keys_changed_at = r.moment FROM json_populate_recordset(NULL::floodgate.clock, $1) AS r`;
/** Derives the tables and columns that are not copied, and notifies servers that use the database. */
const FINISH = `
  INSERT INTO floodgate.accounts SELECT account, coalesce(max(at) FILTER (WHERE rule IS NOT NULL), 0),
    coalesce(max(at) FILTER (WHERE entry->>'list' IS NOT NULL), 0),
    coalesce(max(at) FILTER (WHERE entry->>'zone' IS NOT NULL), 0) FROM floodgate.audit WHERE account IS NOT NULL GROUP BY account;
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
        for await (const { table, rows } of batches)
          await connection.query(statement(insertInto(table), [JSON.stringify(rows)]));
        await connection.command(FINISH);
      }),
  };
}

async function* batchesIn(connection: Connection): Batches {
  for (const table of TABLES) {
    await connection.command(`DECLARE copied NO SCROLL CURSOR FOR SELECT * FROM floodgate.${table}`);
    for (;;) {
      const rows = await rowsOf<never>(connection, `FETCH ${ROWS_PER_FETCH} FROM copied`);
      if (rows.length === 0) break;
      yield { table, rows };
    }
    await connection.command('CLOSE copied');
  }
}

const insertInto = (table: Batch['table']): string =>
  table === 'clock'
    ? SET_CLOCK
    : `INSERT INTO floodgate.${table} SELECT * FROM json_populate_recordset(NULL::floodgate.${table}, $1)`;
