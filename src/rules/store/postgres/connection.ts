import type { CompiledQuery } from 'kysely';
import type pg from 'pg';
import { ConnectionFailed, failureOf } from './failures.ts';

/** A statement that takes longer than the database itself allows: nothing comes over this connection any more. */
const DEADLINE_MS = 15_000;

/** A connection that somebody has for themselves. What fails is a `StoreUnavailable`. */
export class Connection {
  readonly #client: pg.PoolClient;
  #isBroken = false;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  /** It must not be used again. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  async query<Row>({ sql, parameters }: CompiledQuery<Row>): Promise<Row[]> {
    const { rows } = await this.#within(this.#client.query(sql, [...parameters]));
    return rows as Row[]; // of the type that its query was written with
  }

  /** Statements without parameters. Gives the command of the last as the database has carried it out: COMMIT, or ROLLBACK in its place. */
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
