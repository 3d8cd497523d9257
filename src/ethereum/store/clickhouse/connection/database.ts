import pg from 'pg';
import { BadPostgresUrl, connectionOptions } from '../../../../platform/postgres/index.ts';
import { BadTraceStoreUrl, reasonOf, TraceStoreUnavailable } from './failures.ts';

const MAX_CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 20_000;
const LOCK_TIMEOUT_MS = 8_000;
/**
 * Maximum time that a transaction may be idle. It limits how long an instance that dies in a transaction blocks
 * others.
 */
const IDLE_IN_TRANSACTION_MS = 5_000;
const KEEP_ALIVE_DELAY_MS = 10_000;

/** OID of PostgreSQL's type int8. Its values are parsed as numbers, because block numbers are safe integers. */
const INT8 = 20;
const getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
  oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser; // matches its overloads

/** Runs a statement. Values are passed as parameters ($1, $2), never in the statement. */
export type Query = <Row>(sql: string, parameters?: readonly unknown[]) => Promise<Row[]>;

/** PostgreSQL client. Database errors are thrown as TraceStoreUnavailable; errors of callbacks are passed on. */
export class Database {
  readonly #pool: pg.Pool;

  constructor(url: string) {
    this.#pool = new pg.Pool({
      ...optionsOf(url),
      ...{ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, statement_timeout: STATEMENT_TIMEOUT_MS },
      ...{ lock_timeout: LOCK_TIMEOUT_MS, idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS },
      ...{ keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS },
      ...{ types: { getTypeParser }, max: MAX_CONNECTIONS },
    });
    // Without listeners, a lost connection would end the process. The pool removes lost idle connections; a query on
    // a lost connection fails by itself.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  query: Query = async <Row>(sql: string, parameters: readonly unknown[] = []) => {
    const { rows } = await this.#pool.query(sql, [...parameters]).catch(fail);
    return rows as Row[]; // the caller declares the row type
  };

  /** Runs a transaction. `mode` is appended to BEGIN, for example an isolation level. */
  async transaction<T>(mode: string, run: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch(fail);
    const query: Query = async <Row>(sql: string, parameters: readonly unknown[] = []) => {
      const { rows } = await client.query(sql, [...parameters]).catch(fail);
      return rows as Row[]; // the caller declares the row type
    };
    try {
      await query(`BEGIN ${mode}`);
      const result = await run(query);
      const { command } = await client.query('COMMIT').catch(fail);
      if (command !== 'COMMIT')
        throw new TraceStoreUnavailable('PostgreSQL: the transaction was rolled back');
      client.release();
      return result;
    } catch (error) {
      // Closes the connection, which rolls back an open transaction.
      client.release(true);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

function optionsOf(url: string): pg.ClientConfig {
  try {
    return connectionOptions(url);
  } catch (error) {
    throw error instanceof BadPostgresUrl ? new BadTraceStoreUrl(error.message) : error;
  }
}

function fail(error: unknown): never {
  throw new TraceStoreUnavailable(`PostgreSQL: ${reasonOf(error)}`, { cause: error });
}
