import { StoreUnavailable } from '../../index.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import { QueryRefused } from './failures.ts';
import { rowsOf } from './statement.ts';

/** Any number, the same for every instance: who holds its lock migrates. */
const MIGRATION_LOCK = 7_316_480_221;
const INSUFFICIENT_PRIVILEGE = '42501';

interface Migration {
  readonly statements: string;
  /** The oldest format whose releases can go on using the schema after it. */
  readonly oldestUser: number;
}

/** The first makes format 1, and so on. One that was released is never changed. */
const MIGRATIONS: readonly Migration[] = [
  {
    oldestUser: 1,
    statements: `
      CREATE TABLE floodgate.clock (
        only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
        moment bigint NOT NULL, tokens_changed_at bigint NOT NULL, behind_since bigint);
      INSERT INTO floodgate.clock (moment, tokens_changed_at) VALUES (0, 0);
      CREATE TABLE floodgate.accounts (
        account text COLLATE "C" PRIMARY KEY,
        rules_changed_at bigint NOT NULL DEFAULT 0, lists_changed_at bigint NOT NULL DEFAULT 0);
      CREATE INDEX ON floodgate.accounts (rules_changed_at);
      CREATE INDEX ON floodgate.accounts (lists_changed_at);
      CREATE TABLE floodgate.rules (
        account text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, target text COLLATE "C" NOT NULL,
        created_on text COLLATE "C" NOT NULL, rule json NOT NULL, PRIMARY KEY (account, id));
      CREATE INDEX ON floodgate.rules (account, target);
      CREATE TABLE floodgate.list_entries (
        account text COLLATE "C" NOT NULL, list text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
        created_on text COLLATE "C" NOT NULL, entry json NOT NULL, PRIMARY KEY (account, list, id));
      CREATE TABLE floodgate.tokens (
        hash text COLLATE "C" PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE,
        created_on text COLLATE "C" NOT NULL, token json NOT NULL);
      CREATE TABLE floodgate.audit (
        at bigint PRIMARY KEY, account text COLLATE "C", rule text COLLATE "C", entry json NOT NULL);
      CREATE INDEX ON floodgate.audit (account, at);
      CREATE INDEX ON floodgate.audit (rule, at);
      CREATE TABLE floodgate.first_answers (
        account text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, at bigint NOT NULL UNIQUE,
        wall_clock bigint NOT NULL, fingerprint text COLLATE "C" NOT NULL, rule json NOT NULL, overrides json NOT NULL,
        PRIMARY KEY (account, key));`,
  },
  // What format 1 knows stays as it was.
  {
    oldestUser: 1,
    statements: `
      ALTER TABLE floodgate.clock ADD COLUMN keys_changed_at bigint NOT NULL DEFAULT 0;
      CREATE TABLE floodgate.gateway_keys (
        hash text COLLATE "C" PRIMARY KEY, changed_at bigint NOT NULL, key json NOT NULL);
      CREATE INDEX ON floodgate.gateway_keys (changed_at);
      CREATE TABLE floodgate.instances (
        id text COLLATE "C" PRIMARY KEY, account text COLLATE "C" NOT NULL, run text COLLATE "C" NOT NULL,
        told json NOT NULL, last_seen timestamptz NOT NULL);
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
        id text COLLATE "C" PRIMARY KEY, used_on text COLLATE "C" NOT NULL);`,
  },
];

/** The format that this release writes. */
const FORMAT = MIGRATIONS.length;

/**
 * Brings the schema to the format of this release, in one transaction, and leaves one that is newer as it is where that can be
 * used by this release. Throws `StoreUnavailable` where it cannot, or where this role may not change it.
 */
export async function migrate(connections: Connections): Promise<void> {
  // Seen without a lock first: most of the time there is nothing to do, and no right to do it.
  if (isUsable(await connections.borrow(formatOf))) return;
  try {
    await connections.borrow(async (connection) => {
      await connection.command(`BEGIN; SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      const format = await formatOf(connection);
      if (!isUsable(format)) await bringUp(connection, format?.version ?? 0);
      await connection.command('COMMIT');
    });
  } catch (error) {
    if (!(error instanceof QueryRefused) || error.code !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new StoreUnavailable(
      'The rules database has not the tables of this release, and this user may not make them: run ' +
        '`floodgate store migrate` as the owner of the schema floodgate (docs/postgresql.md)',
      { cause: error },
    );
  }
}

interface Format {
  readonly version: number;
  readonly oldest_user: number;
}

// By what is committed now: `to_regclass` may remember that there was none while another instance made it.
const OWN_SCHEMA = `SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'floodgate'`;
const FORMAT_TABLE = `SELECT FROM pg_catalog.pg_class WHERE relname = 'format'
  AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'floodgate')`;

async function isThere(connection: Connection, what: string): Promise<boolean> {
  return (await rowsOf(connection, what)).length > 0;
}

async function formatOf(connection: Connection): Promise<Format | undefined> {
  if (!(await isThere(connection, FORMAT_TABLE))) return undefined;
  const [format] = await rowsOf<Format>(connection, 'SELECT version, oldest_user FROM floodgate.format');
  return format;
}

/** Throws where it is of a later release that this one cannot stand beside. */
function isUsable(format: Format | undefined): boolean {
  if (format === undefined || format.version < FORMAT) return false;
  if (format.oldest_user <= FORMAT) return true;
  throw new StoreUnavailable(
    `The rules database has format ${format.version}, for releases that know format ${format.oldest_user} or later; this one knows ${FORMAT}: use a later release`,
  );
}

async function bringUp(connection: Connection, from: number): Promise<void> {
  // Who was given the schema needs no right to make one.
  if (!(await isThere(connection, OWN_SCHEMA))) await connection.command('CREATE SCHEMA floodgate');
  if (from === 0)
    await connection.command(
      'CREATE TABLE floodgate.format (version integer NOT NULL, oldest_user integer NOT NULL); INSERT INTO floodgate.format VALUES (0, 0)',
    );
  for (const { statements } of MIGRATIONS.slice(from)) await connection.command(statements);
  const oldestUser = MIGRATIONS.at(-1)?.oldestUser ?? FORMAT;
  await connection.command(`UPDATE floodgate.format SET version = ${FORMAT}, oldest_user = ${oldestUser}`);
}
