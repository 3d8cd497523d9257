import {
  type ColumnType,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { AccessEntry, AuditEntry, Micros, Rule, Token } from '../../index.ts';

/** Where all tables are. */
const SCHEMA = 'floodgate';

/** Written as text, so that its members keep their order; read as what it is. */
type Json<T> = ColumnType<T, string, string>;

export interface Tables {
  /** One row. Who writes locks it first. */
  readonly clock: {
    /** Of the last change of anything. */
    readonly moment: Micros;
    readonly tokens_changed_at: Micros;
    readonly keys_changed_at: Micros;
    /** Since when by the wall clock, as far as a transaction noted it, that has been behind the last change. */
    readonly behind_since: Micros | null;
  };
  readonly accounts: {
    readonly account: string;
    readonly rules_changed_at: Micros;
    readonly lists_changed_at: Micros;
  };
  readonly rules: {
    readonly account: string;
    readonly id: string;
    readonly target: string;
    readonly created_on: string;
    readonly rule: Json<Rule>;
  };
  readonly list_entries: {
    readonly account: string;
    readonly list: string;
    readonly id: string;
    readonly created_on: string;
    readonly entry: Json<AccessEntry>;
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
  readonly first_answers: {
    readonly account: string;
    /** Of the retry key, its SHA-256. */
    readonly key: string;
    readonly at: Micros;
    readonly wall_clock: Micros;
    readonly fingerprint: string;
    readonly rule: Json<Rule>;
    readonly overrides: Json<readonly string[]>;
  };
}

/** Writes queries, and sends none: `Connections` does. */
export const queries = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
}).withSchema(SCHEMA);
