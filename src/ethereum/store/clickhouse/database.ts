import pg from 'pg';
import { BadPostgresUrl, connectionOptions } from '../../../platform/postgres/index.ts';
import { BadTraceStoreUrl, reasonOf, TraceStoreUnavailable } from './failures.ts';

const MAX_CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 20_000;
const LOCK_TIMEOUT_MS = 8_000;
/** What an instance that died in the middle of a transaction keeps the others waiting. */
const IDLE_IN_TRANSACTION_MS = 5_000;
const KEEP_ALIVE_DELAY_MS = 10_000;

/** Numbers of blocks are safe as numbers. */
const INT8 = 20;
const getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
  oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser; // as its overloads say

/** Runs a statement whose values stand in its parameters ($1, $2), never in the text. */
export type Query = <Row>(sql: string, parameters?: readonly unknown[]) => Promise<Row[]>;

/** The PostgreSQL in which it stands which blocks count. Whatever fails is a TraceStoreUnavailable, but for what its callers throw. */
export class Database {
  readonly #pool: pg.Pool;

  /** Throws BadTraceStoreUrl. */
  constructor(url: string) {
    this.#pool = new pg.Pool({
      ...optionsOf(url),
      ...{ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, statement_timeout: STATEMENT_TIMEOUT_MS },
      ...{ lock_timeout: LOCK_TIMEOUT_MS, idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS },
      ...{ keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS },
      ...{ types: { getTypeParser }, max: MAX_CONNECTIONS },
    });
    // A connection that is cut while nobody uses it is taken out by the pool, and one in use fails what uses it.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  query: Query = async <Row>(sql: string, parameters: readonly unknown[] = []) => {
    const { rows } = await this.#pool.query(sql, [...parameters]).catch(fail);
    return rows as Row[]; // as whoever writes the statement says
  };

  /** All of it or nothing; `mode` is what stands behind BEGIN. */
  async transaction<T>(mode: string, run: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch(fail);
    const query: Query = async <Row>(sql: string, parameters: readonly unknown[] = []) => {
      const { rows } = await client.query(sql, [...parameters]).catch(fail);
      return rows as Row[]; // see above
    };
    try {
      await query(`BEGIN ${mode}`);
      const result = await run(query);
      const { command } = await client.query('COMMIT').catch(fail);
      if (command !== 'COMMIT') throw new TraceStoreUnavailable('PostgreSQL has not taken the change');
      client.release();
      return result;
    } catch (error) {
      // Whatever was begun on it ends with it.
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
