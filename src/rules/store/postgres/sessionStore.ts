import { displacedBy, type Session, type SessionStore } from '../../index.ts';
import { ConnectionFailed } from './connection/failures.ts';
import { statement } from './connection/statement.ts';
import type { StoreParts } from './storeParts.ts';

/** Maximum age of cached sessions if the database is unreachable. Their tokens are cached for the same time. */
const MAX_CACHED_AGE_MS = 5 * 60_000;
/** Maximum number of cached sessions, which use about 1 MB. The least recently used session is evicted. */
const MAX_REMEMBERED = 2_000;

const FIND = 'SELECT session FROM floodgate.sessions WHERE hash = $1';
const LIST = `SELECT session FROM floodgate.sessions ORDER BY session->>'created_on' COLLATE "C"`;
const ADD = `WITH displaced AS (DELETE FROM floodgate.sessions WHERE hash = ANY($3))
  INSERT INTO floodgate.sessions (hash, session) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING`;
const SET_KEY = `UPDATE floodgate.sessions SET session = (session - 'key') || $2::jsonb WHERE hash = $1`;
const REMOVE = 'DELETE FROM floodgate.sessions WHERE hash = $1 RETURNING session';

interface Row {
  readonly session: Session;
}

/**
 * Sessions of the console in PostgreSQL, keyed by the hash of their secret. Writes run outside the `CommitQueue`, so
 * that they do not lock the clock row. Servers that add sessions at the same moment can exceed a limit by a few.
 */
export class PostgresSessionStore implements SessionStore {
  readonly #parts: StoreParts;
  readonly #remembered = new Map<string, Session>();

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async find(hash: string): Promise<Session | undefined> {
    try {
      const [row] = await this.#parts.connections.read(statement<Row>(FIND, [hash]));
      this.#remember(hash, row?.session);
      return row?.session;
    } catch (error) {
      const session = this.#remembered.get(hash);
      const isBelieved = error instanceof ConnectionFailed && this.#parts.feed.ageMs <= MAX_CACHED_AGE_MS;
      if (session === undefined || !isBelieved) throw error;
      return session;
    }
  }

  async list(): Promise<readonly Session[]> {
    return (await this.#parts.connections.read(statement<Row>(LIST))).map(({ session }) => session);
  }

  async add(session: Session): Promise<void> {
    const displaced = displacedBy(session, await this.list()).map(({ hash }) => hash);
    await this.#write(ADD, [session.hash, JSON.stringify(session), displaced]);
  }

  async setKey(hash: string, key: string | undefined): Promise<void> {
    await this.#write(SET_KEY, [hash, JSON.stringify({ key })]);
  }

  async remove(hash: string): Promise<Session | undefined> {
    this.#remembered.delete(hash);
    const [removed] = await this.#write(REMOVE, [hash]);
    return removed?.session;
  }

  #write(sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    const { connections } = this.#parts;
    connections.assertReachable();
    return connections.withRetries((connection) => connection.query(statement<Row>(sql, parameters)));
  }

  #remember(hash: string, session: Session | undefined): void {
    this.#remembered.delete(hash);
    if (session === undefined) return;
    this.#remembered.set(hash, session);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
  }
}
