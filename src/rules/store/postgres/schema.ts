import { StoreUnavailable } from '../../index.ts';
import { type Connection, rowsOf } from './connection/connection.ts';
import type { Connections } from './connection/connections.ts';
import { INSUFFICIENT_PRIVILEGE, QueryRefused } from './connection/failures.ts';

const FORMAT = 3;
/** Oldest format whose releases can use this schema. Releases that know this format or a later one may use it. */
const OLDEST_USER = 3;

const TABLES = `
  CREATE TABLE floodgate.format (format integer NOT NULL, oldest_user integer NOT NULL);
  INSERT INTO floodgate.format VALUES (${FORMAT}, ${OLDEST_USER});
  CREATE TABLE floodgate.clock (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    moment bigint NOT NULL, tokens_changed_at bigint NOT NULL, keys_changed_at bigint NOT NULL,
    behind_since bigint);
  INSERT INTO floodgate.clock (moment, tokens_changed_at, keys_changed_at) VALUES (0, 0, 0);
  CREATE TABLE floodgate.accounts (
    account text COLLATE "C" PRIMARY KEY,
    rules_changed_at bigint NOT NULL DEFAULT 0, lists_changed_at bigint NOT NULL DEFAULT 0,
    zones_changed_at bigint NOT NULL DEFAULT 0);
  CREATE INDEX ON floodgate.accounts (rules_changed_at);
  CREATE INDEX ON floodgate.accounts (lists_changed_at);
  CREATE INDEX ON floodgate.accounts (zones_changed_at);
  CREATE TABLE floodgate.rules (
    account text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, target text COLLATE "C" NOT NULL,
    created_on text COLLATE "C" NOT NULL, rule json NOT NULL, PRIMARY KEY (account, id));
  CREATE INDEX ON floodgate.rules (account, target);
  CREATE TABLE floodgate.list_entries (
    account text COLLATE "C" NOT NULL, list text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
    created_on text COLLATE "C" NOT NULL, entry json NOT NULL, PRIMARY KEY (account, list, id));
  CREATE TABLE floodgate.zone_policies (
    account text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, zone text COLLATE "C" NOT NULL,
    created_on text COLLATE "C" NOT NULL, policy json NOT NULL, PRIMARY KEY (account, id), UNIQUE (account, zone));
  CREATE TABLE floodgate.tokens (
    hash text COLLATE "C" PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE,
    created_on text COLLATE "C" NOT NULL, token json NOT NULL);
  CREATE TABLE floodgate.sessions (hash text COLLATE "C" PRIMARY KEY, session jsonb NOT NULL);
  CREATE TABLE floodgate.audit (
    at bigint PRIMARY KEY, account text COLLATE "C", rule text COLLATE "C", entry json NOT NULL);
  CREATE INDEX ON floodgate.audit (account, at);
  CREATE INDEX ON floodgate.audit (rule, at);
  CREATE TABLE floodgate.idempotency_keys (
    account text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, at bigint NOT NULL UNIQUE,
    wall_clock bigint NOT NULL, fingerprint text COLLATE "C" NOT NULL, created json NOT NULL, overrides json NOT NULL,
    PRIMARY KEY (account, key));
  CREATE TABLE floodgate.gateway_keys (
    hash text COLLATE "C" PRIMARY KEY, changed_at bigint NOT NULL, key json NOT NULL);
  CREATE INDEX ON floodgate.gateway_keys (changed_at);
  CREATE TABLE floodgate.instances (
    id text COLLATE "C" PRIMARY KEY, account text COLLATE "C" NOT NULL, run text COLLATE "C" NOT NULL,
    report json NOT NULL, last_seen timestamptz NOT NULL);
  CREATE INDEX ON floodgate.instances (account, last_seen);
  CREATE TABLE floodgate.minutes (
    account text COLLATE "C" NOT NULL, rule text COLLATE "C" NOT NULL, minute bigint NOT NULL,
    instance text COLLATE "C" NOT NULL, region text COLLATE "C" NOT NULL, datacenter text COLLATE "C" NOT NULL,
    record json NOT NULL, PRIMARY KEY (account, rule, minute, instance));
  CREATE INDEX ON floodgate.minutes (instance, minute);
  CREATE INDEX ON floodgate.minutes (minute);
  CREATE TABLE floodgate.attacks (
    account text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, instance text COLLATE "C" NOT NULL,
    region text COLLATE "C" NOT NULL, datacenter text COLLATE "C" NOT NULL,
    started_ms bigint NOT NULL, is_active boolean NOT NULL, attack json NOT NULL, PRIMARY KEY (account, id));
  CREATE INDEX ON floodgate.attacks (account, started_ms, id);
  CREATE INDEX ON floodgate.attacks (instance, started_ms);
  CREATE INDEX ON floodgate.attacks (started_ms);
  CREATE TABLE floodgate.token_uses (
    id text COLLATE "C" PRIMARY KEY, used_on text COLLATE "C" NOT NULL);`;

/**
 * Arbitrary number of an advisory lock, equal for all instances. The instance that acquires it creates the tables.
 */
const SCHEMA_LOCK = 7_316_480_221;

/** Creates the tables in a new database. Throws `StoreUnavailable` for another format or if it lacks the right. */
export async function prepareSchema(connections: Connections): Promise<void> {
  // The first check is without the lock, because usually the tables exist and the role may lack the right to create
  // them.
  if (await connections.borrow(isUsable)) return;
  try {
    await connections.borrow(async (connection) => {
      await connection.command(`BEGIN; SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`);
      if (!(await isUsable(connection))) {
        // The schema may exist already. A role that owns it may then create tables without the right to create a
        // schema.
        if (!(await exists(connection, OWN_SCHEMA))) await connection.command('CREATE SCHEMA floodgate');
        await connection.command(TABLES);
      }
      await connection.command('COMMIT');
    });
  } catch (error) {
    if (!(error instanceof QueryRefused) || error.code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new StoreUnavailable(
      'The rules database lacks the tables of this release, and this user may not create them: run ' +
        '`floodgate store migrate` as the owner of the schema floodgate (docs/operate/postgresql.md)',
      { cause: error },
    );
  }
}

// These queries do not use `to_regclass`, because it may have cached that a table was missing before another instance
// created it.
const OWN_SCHEMA = `SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'floodgate'`;
const FORMAT_TABLE = `SELECT FROM pg_catalog.pg_class WHERE relname = 'format'
  AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'floodgate')`;
/** Reads the format of the tables. It is null in tables that were written before 0.1.0, which lack the column. */
const READ_FORMAT = `SELECT (to_json(f)->>'format')::integer AS format, oldest_user FROM floodgate.format AS f`;

const exists = async (connection: Connection, query: string): Promise<boolean> =>
  (await rowsOf(connection, query)).length > 0;

/** Returns whether the tables exist. Throws `StoreUnavailable` if this release cannot use their format. */
async function isUsable(connection: Connection): Promise<boolean> {
  if (!(await exists(connection, FORMAT_TABLE))) return false;
  const [row] = await rowsOf<{ format: number | null; oldest_user: number }>(connection, READ_FORMAT);
  const format = row?.format ?? 0;
  if (format < FORMAT)
    throw new StoreUnavailable(
      'The schema floodgate of the rules database was written before 0.1.0; use a new database, or drop the schema if nothing ' +
        'in it is needed (docs/operate/upgrade.md)',
    );
  if (row !== undefined && row.oldest_user <= FORMAT) return true;
  throw new StoreUnavailable(
    `The rules database has format ${format}, for releases that know format ${row?.oldest_user} or later; this one knows ${FORMAT}: use a later release`,
  );
}
