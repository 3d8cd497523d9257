import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../../../../platform/logging/index.ts';
import { BadPostgresUrl, type DatabaseHosts, databaseHosts } from '../../../../platform/postgres/index.ts';
import { BadStoreAddress } from '../../../index.ts';
import { Connection } from './connection.ts';
import {
  ConnectionFailed,
  failureOf,
  INSUFFICIENT_PRIVILEGE,
  QueryRefused,
  TOO_MANY_CONNECTIONS,
} from './failures.ts';
import { hostClient } from './hostClient.ts';
import type { Statement } from './statement.ts';

/**
 * Maximum number of connections per instance. Idle ones stay open, because a database at its connection limit would
 * accept no new one.
 */
const MAX_CONNECTIONS = 5;
const CONNECT_TIMEOUT_MS = 5_000;
/** Maximum wait for a lock, mainly for that of the clock row during commits of other instances. */
const LOCK_TIMEOUT_MS = 8_000;
/** Time after which the database ends an idle transaction, so that a dead instance does not block the others. */
const IDLE_IN_TRANSACTION_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 10_000;
const TIMEOUTS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
};
const SET_TIMEOUTS = Object.entries(TIMEOUTS)
  .map(([name, ms]) => `SET LOCAL ${name} = ${ms};`)
  .join(' ');
const KEEP_ALIVE_DELAY_MS = 10_000;
const RETRY_MS = 1_000;
const PAUSE_MS = 20;

export interface ConnectionsDependencies {
  readonly log: Log;
}

export class Connections {
  readonly #pool: pg.Pool;
  readonly #urlHosts: DatabaseHosts;
  readonly #listenClient: typeof pg.Client;
  /** Statements after BEGIN. A pooler does not forward the timeouts of the session. */
  readonly #settings: string;
  readonly #log: Log;
  readonly #denied = new Set<string>();
  #isUnreachable = false;

  /** `listenUrl`: direct URL for LISTEN, if `url` leads to a pooler in transaction mode. */
  constructor(url: string, { log }: ConnectionsDependencies, listenUrl?: string) {
    this.#log = log;
    const common = {
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      types: { getTypeParser },
    };
    const clientOf = ({ hosts, isReadWrite }: DatabaseHosts, timeouts: pg.ClientConfig) =>
      hostClient(
        hosts.map((host) => ({ ...host, ...common, ...timeouts })),
        isReadWrite,
      );
    this.#urlHosts = hostsOf(url);
    const Client = clientOf(this.#urlHosts, listenUrl === undefined ? TIMEOUTS : {});
    this.#settings = listenUrl === undefined ? '' : SET_TIMEOUTS;
    this.#listenClient = listenUrl === undefined ? Client : clientOf(hostsOf(listenUrl), TIMEOUTS);
    const { connectionTimeoutMillis } = common;
    this.#pool = new pg.Pool({ Client, connectionTimeoutMillis, max: MAX_CONNECTIONS, idleTimeoutMillis: 0 });
    // The pool reports errors of idle connections, which it has removed.
    this.#pool.on('error', () => undefined);
  }

  /** Text that identifies the database, without user and password. */
  get database(): string {
    return this.#urlHosts.hosts.map(({ host, port, database }) => `${host}:${port}/${database}`).join(',');
  }

  /** Whether the last attempts did not reach the database. Reads then fail at once instead of waiting. */
  get isUnreachable(): boolean {
    return this.#isUnreachable;
  }

  /** Runs a read-only query. `evenIfAway` tries even if the database was unreachable, to detect that it is back. */
  async read<Row>(query: Statement<Row>, { evenIfAway = false } = {}): Promise<Row[]> {
    if (!evenIfAway) this.assertReachable();
    return this.withRetries((connection) => connection.query(query));
  }

  /**
   * Like `borrow`, but retries connection failures for a second, because pooled connections may be cut and a
   * restarted server is soon back. If the database is still unreachable then, it is marked as such.
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

  /** Passes a connection to `use`, and closes it if `use` fails. Failures of the database are `StoreUnavailable`. */
  async borrow<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#client();
    const connection = new Connection(client, this.#settings);
    try {
      const result = await use(connection);
      client.release(connection.isBroken);
      return result;
    } catch (error) {
      // The pool closes the connection, which rolls back an open transaction.
      client.release(true);
      if (error instanceof QueryRefused) this.#logDenied(error);
      throw error;
    }
  }

  /**
   * Returns a connection of the pool, to the first host that accepts one. At the connection limit of the database, waits
   * until a pooled one is free.
   */
  async #client(): Promise<pg.PoolClient> {
    const deadlineMs = performance.now() + CONNECT_TIMEOUT_MS;
    for (let otherHosts = this.#urlHosts.hosts.length - 1; ; otherHosts--) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        const failure = failureOf(error);
        if (otherHosts > 0) continue;
        const isOneLeft = failure.code === TOO_MANY_CONNECTIONS && this.#pool.totalCount > 0;
        if (!isOneLeft || performance.now() > deadlineMs) throw failure;
        await pause(PAUSE_MS);
      }
    }
  }

  /** Logs each denied table once, because clients could cause many log lines. */
  #logDenied({ code, message }: QueryRefused): void {
    if (code !== INSUFFICIENT_PRIVILEGE || this.#denied.has(message)) return;
    this.#denied.add(message);
    this.#log.error({ reason: message }, 'rules database denies access: run the grants again');
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

  /** Returns a new connection for LISTEN, outside the pool. The caller must end it. */
  newClient(): pg.Client {
    return new this.#listenClient();
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/** PostgreSQL's number for the type int8. Its columns contain times and counts, which JavaScript holds exactly. */
const INT8 = 20;
const getTypeParser = ((oid: number, format?: 'text' | 'binary') =>
  oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser; // matches the overloads

function hostsOf(url: string): DatabaseHosts {
  try {
    return databaseHosts(url);
  } catch (error) {
    throw error instanceof BadPostgresUrl ? new BadStoreAddress(error.message) : error;
  }
}
