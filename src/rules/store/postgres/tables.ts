import {
  type ColumnType,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { AuditEntry, Micros, Token } from '../../index.ts';

const SCHEMA = 'floodgate';

/** Column with JSON: written as text, so that members keep their order, and read as a parsed value. */
type Json<T> = ColumnType<T, string, string>;

export interface Tables {
  /** Table with a single row. Every transaction that writes locks that row first. */
  readonly clock: {
    readonly moment: Micros;
    readonly tokens_changed_at: Micros;
    readonly keys_changed_at: Micros;
    /** Wall-clock time at which a transaction noted that the wall clock is behind `moment`; null if it is not. */
    readonly behind_since: Micros | null;
  };
  readonly tokens: {
    readonly hash: string;
    readonly id: string;
    readonly created_on: string;
    readonly token: Json<Token>;
  };
  readonly token_uses: {
    readonly id: string;
    readonly used_on: string;
  };
  readonly audit: {
    readonly at: Micros;
    readonly account: string | null;
    readonly rule: string | null;
    readonly entry: Json<AuditEntry>;
  };
  readonly idempotency_keys: {
    readonly account: string;
    /** SHA-256 of the retry key. */
    readonly key: string;
    readonly at: Micros;
    readonly wall_clock: Micros;
    readonly fingerprint: string;
    readonly created: Json<object>;
    readonly overrides: Json<readonly string[]>;
  };
}

/** Query builder for these tables. It only compiles queries; `Connections` sends them. */
export const queries = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
}).withSchema(SCHEMA);
