import { setTimeout as pause } from 'node:timers/promises';
import type { CompiledQuery } from 'kysely';
import pg from 'pg';
import type { Log } from '../../../platform/logging/index.ts';
import { BadPostgresUrl, connectionOptions } from '../../../platform/postgres/index.ts';
import { BadStoreAddress } from '../../index.ts';
import { Connection } from './connection.ts';
import { ConnectionFailed, failureOf, TOO_MANY_CONNECTIONS } from './failures.ts';

/** Of one instance. It keeps them, so that a database that has no more to give does not stop it. */
const MAX_CONNECTIONS = 5;
const CONNECT_TIMEOUT_MS = 5_000;
/** Waiting for the clock included: some instances' commits, and one that was cut. */
const LOCK_TIMEOUT_MS = 8_000;
/** What an instance that died in the middle of a transaction keeps the others waiting. */
const IDLE_IN_TRANSACTION_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_DELAY_MS = 10_000;
const RETRY_MS = 1_000;
const PAUSE_MS = 20;

export interface ConnectionsDependencies {
  readonly log: Log;
}

/** The connections to the database, and whether it is away. */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #options: pg.ClientConfig;
  readonly #log: Log;
  #isAway = false;

  /** Throws `BadStoreAddress`. */
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
    // A connection that is cut while nobody uses it is taken out by the pool, and one in use fails what uses it.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** Whether the last attempt found no database. Whoever asks for a read is not kept waiting then. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** The rows of a query that changes nothing. `evenIfAway`: by which it is found out that it no longer is. */
  async read<Row>(query: CompiledQuery<Row>, { evenIfAway = false } = {}): Promise<Row[]> {
    if (!evenIfAway) this.assertThere();
    return this.attempt((connection) => connection.query(query));
  }

  /**
   * As `borrow`, again and again for a second where it fails for want of a connection: those of the pool may have been cut since they were
   * used last, and a server that is started anew is soon there. After that it is away.
   */
  async attempt<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    const deadlineMs = performance.now() + RETRY_MS;
    for (;;) {
      try {
        return await this.borrow(use);
      } catch (error) {
        if (!(error instanceof ConnectionFailed) || this.#isAway) throw error;
        if (performance.now() > deadlineMs) {
          this.noteAway(error);
          throw error;
        }
        await pause(PAUSE_MS);
      }
    }
  }

  /** Throws `ConnectionFailed` where the database is known to be away. */
  assertThere(): void {
    if (this.#isAway) throw new ConnectionFailed('it is away');
  }

  /** Gives a connection to `use`; one that failed is not used again. Every failure of the database is a `StoreUnavailable`. */
  async borrow<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#client();
    const connection = new Connection(client);
    try {
      const result = await use(connection);
      client.release(connection.isBroken);
      return result;
    } catch (error) {
      // Whatever was begun on it ends with it.
      client.release(true);
      throw error;
    }
  }

  /** A database that gives no more of them leaves those that there are: one of them will be free. */
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

  noteAway(error: ConnectionFailed): void {
    if (this.#isAway) return;
    this.#isAway = true;
    this.#log.error({ reason: error.message }, 'the rules database is away: changes are refused');
  }

  noteThere(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#log.info({}, 'the rules database is back');
  }

  /** A connection of its own, not one of the pool's: it is for listening, and must be ended by the caller. */
  newClient(): pg.Client {
    return new pg.Client(this.#options);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** Moments are safe as numbers. */
const INT8 = 20;
const getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
  oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser; // as its overloads say

function optionsOf(url: string): pg.ClientConfig {
  try {
    return connectionOptions(url);
  } catch (error) {
    throw error instanceof BadPostgresUrl ? new BadStoreAddress(error.message) : error;
  }
}
