import { setTimeout as pause } from 'node:timers/promises';
import type { CompiledQuery } from 'kysely';
import pg from 'pg';
import type { Log } from '../../../../platform/logging/index.ts';
import { BadPostgresUrl, connectionOptions } from '../../../../platform/postgres/index.ts';
import { BadStoreAddress } from '../../../index.ts';
import { Connection } from './connection.ts';
import { ConnectionFailed, failureOf, TOO_MANY_CONNECTIONS } from './failures.ts';

/** Maximum connections per instance. None is closed, because a database at its connection limit accepts no others. */
const MAX_CONNECTIONS = 5;
const CONNECT_TIMEOUT_MS = 5_000;
/** Maximum wait for a lock, mainly of the clock row: commits of other instances and an interrupted transaction. */
const LOCK_TIMEOUT_MS = 8_000;
/** The database ends transactions that are idle for this time, so that a dead instance does not block others. */
const IDLE_IN_TRANSACTION_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_DELAY_MS = 10_000;
const RETRY_MS = 1_000;
const PAUSE_MS = 20;

export interface ConnectionsDependencies {
  readonly log: Log;
}

export class Connections {
  readonly #pool: pg.Pool;
  readonly #options: pg.ClientConfig;
  readonly #log: Log;
  #isUnreachable = false;

  constructor(url: string, { log }: ConnectionsDependencies) {
    this.#log = log;
    this.#options = {
      ...optionsOf(url),
      ...{ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, statement_timeout: STATEMENT_TIMEOUT_MS },
      ...{ lock_timeout: LOCK_TIMEOUT_MS, idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS },
      ...{ keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS },
      types: { getTypeParser },
    };
    this.#pool = new pg.Pool({ ...this.#options, max: MAX_CONNECTIONS, idleTimeoutMillis: 0 });
    // The pool removes idle connections that are cut; on others, the running statement fails.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** Whether the last attempt did not reach the database. Reads then fail at once instead of waiting. */
  get isUnreachable(): boolean {
    return this.#isUnreachable;
  }

  /** Runs a read-only query. `evenIfAway` tries an unreachable database, to detect that it is back. */
  async read<Row>(query: CompiledQuery<Row>, { evenIfAway = false } = {}): Promise<Row[]> {
    if (!evenIfAway) this.assertReachable();
    return this.withRetries((connection) => connection.query(query));
  }

  /**
   * Like `borrow`, but retries connection failures for a second, as pooled connections may be cut and a restarted
   * server is back soon. After that second, the database is marked unreachable.
   */
  async withRetries<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    const deadlineMs = performance.now() + RETRY_MS;
    for (;;) {
      try {
        return await this.borrow(use);
      } catch (error) {
        if (!(error instanceof ConnectionFailed) || this.#isUnreachable) throw error;
        if (performance.now() > deadlineMs) {
          this.markUnreachable(error);
          throw error;
        }
        await pause(PAUSE_MS);
      }
    }
  }

  /** Throws `ConnectionFailed` if the database is marked unreachable. */
  assertReachable(): void {
    if (this.#isUnreachable) throw new ConnectionFailed('earlier attempts failed');
  }

  /** Passes a connection to `use`, and discards it after a failure. Database failures are `StoreUnavailable`. */
  async borrow<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#client();
    const connection = new Connection(client);
    try {
      const result = await use(connection);
      client.release(connection.isBroken);
      return result;
    } catch (error) {
      // Closing the connection rolls back its open transaction.
      client.release(true);
      throw error;
    }
  }

  /** Returns a connection. At the database's connection limit, waits for one of the pool's connections. */
  async #client(): Promise<pg.PoolClient> {
    const deadlineMs = performance.now() + CONNECT_TIMEOUT_MS;
    for (;;) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        const failure = failureOf(error);
        const isOneLeft = failure.code === TOO_MANY_CONNECTIONS && this.#pool.totalCount > 0;
        if (!isOneLeft || performance.now() > deadlineMs) throw failure;
        await pause(PAUSE_MS);
      }
    }
  }

  markUnreachable(error: ConnectionFailed): void {
    if (this.#isUnreachable) return;
    this.#isUnreachable = true;
    this.#log.error({ reason: error.message }, 'rules database unreachable: rejecting changes');
  }

  markReachable(): void {
    if (!this.#isUnreachable) return;
    this.#isUnreachable = false;
    this.#log.info({}, 'rules database reachable again');
  }

  /** New connection for LISTEN, outside the pool. The caller must end it. */
  newClient(): pg.Client {
    return new pg.Client(this.#options);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** Type of int8 columns. They contain times, which are exact as numbers. */
const INT8 = 20;
const getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
  oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser; // matches its overloads

function optionsOf(url: string): pg.ClientConfig {
  try {
    return connectionOptions(url);
  } catch (error) {
    throw error instanceof BadPostgresUrl ? new BadStoreAddress(error.message) : error;
  }
}
