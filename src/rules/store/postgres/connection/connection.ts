import type pg from 'pg';
import { ConnectionFailed, failureOf } from './failures.ts';
import { type Statement, statement } from './statement.ts';

/** Time limit of a statement. It exceeds the limit in the database, so a slower response means a dead connection. */
const DEADLINE_MS = 15_000;

/** Connection that is borrowed from the pool. All its failures are `StoreUnavailable`. */
export class Connection {
  readonly #client: pg.PoolClient;
  #isBroken = false;

  readonly #settings: string;

  /** `settings`: statements after each BEGIN. */
  constructor(client: pg.PoolClient, settings: string) {
    this.#client = client;
    this.#settings = settings;
  }

  /** Begins a transaction, and runs statements in it. */
  async begin(sql: string): Promise<void> {
    await this.command(`BEGIN; ${this.#settings} ${sql}`);
  }

  /** Whether the connection failed and must not be reused. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  async query<Row>({ sql, parameters }: Statement<Row>): Promise<Row[]> {
    const { rows } = await this.#within(this.#client.query(sql, [...parameters]));
    return rows as Row[]; // the author of the query declares this type
  }

  /** Runs statements. Returns the command tag of the last one: after COMMIT, ROLLBACK if the database rolled back. */
  async command(sql: string): Promise<string> {
    const results = await this.#within<pg.QueryResult | pg.QueryResult[]>(this.#client.query(sql));
    return [results].flat().at(-1)?.command ?? '';
  }

  async #within<T>(answer: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new ConnectionFailed(`no answer in ${DEADLINE_MS} ms`)), DEADLINE_MS);
    });
    try {
      return await Promise.race([answer, late]);
    } catch (error) {
      this.#isBroken = true;
      throw failureOf(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

export function rowsOf<Row>(connection: Connection, sql: string): Promise<Row[]> {
  return connection.query(statement<Row>(sql));
}
