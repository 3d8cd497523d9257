import type { Database, Query } from '../connection/database.ts';
import { TraceStoreUnavailable } from '../connection/failures.ts';

const FORMAT = 1;

const TABLES = `
  CREATE TABLE floodgate_traces.format (format integer NOT NULL);
  INSERT INTO floodgate_traces.format VALUES (${FORMAT});
  CREATE TABLE floodgate_traces.chains (
    network text COLLATE "C" PRIMARY KEY,
    id bigint NOT NULL UNIQUE,
    chain_id bigint, genesis bytea,
    finalized bigint,
    present int8multirange NOT NULL DEFAULT '{}',
    lease_token bigint NOT NULL DEFAULT 0, lease_holder text, lease_until timestamptz);
  CREATE TABLE floodgate_traces.blocks (
    chain bigint NOT NULL, number bigint NOT NULL, attempt integer NOT NULL,
    hash bytea NOT NULL, parent bytea NOT NULL, timestamp bigint NOT NULL,
    traces integer NOT NULL, postings integer NOT NULL,
    is_canonical boolean NOT NULL DEFAULT false, is_cleared boolean NOT NULL DEFAULT false,
    PRIMARY KEY (chain, number, attempt));
  CREATE UNIQUE INDEX blocks_canonical ON floodgate_traces.blocks (chain, number) WHERE is_canonical;
  CREATE INDEX blocks_unusual ON floodgate_traces.blocks (chain, number) WHERE attempt > 0 OR NOT is_canonical;
  CREATE INDEX blocks_dead ON floodgate_traces.blocks (chain, number) WHERE NOT is_canonical AND NOT is_cleared;
  CREATE TABLE floodgate_traces.segments (
    chain bigint NOT NULL, segment bigint NOT NULL, postings bigint NOT NULL, PRIMARY KEY (chain, segment));
  CREATE TABLE floodgate_traces.unavailable (
    chain bigint NOT NULL, number bigint NOT NULL, reason text NOT NULL, PRIMARY KEY (chain, number));`;

/** Arbitrary id of a PostgreSQL lock, the same for all instances. The instance with the lock creates the tables. */
const SCHEMA_LOCK = 7_316_480_222;

/**
 * Creates the PostgreSQL tables in one transaction, unless they exist. Throws `TraceStoreUnavailable` if they have
 * another format.
 */
export async function prepareSchema(database: Database): Promise<void> {
  // The tables are checked without the lock first. Most starts have nothing to create, and the database user may lack
  // the right to create tables.
  if (await isUsable(database.query)) return;
  await database.transaction('', async (query) => {
    await query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    if (await isUsable(query)) return;
    if ((await query(SCHEMA_EXISTS)).length === 0) await query('CREATE SCHEMA floodgate_traces');
    for (const statement of TABLES.split(';')) if (statement.trim() !== '') await query(statement);
  });
}

const SCHEMA_EXISTS = `SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'floodgate_traces'`;
const FORMAT_EXISTS = `SELECT FROM pg_catalog.pg_class WHERE relname = 'format'
  AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'floodgate_traces')`;
/** `format` is null in tables from before 0.1.0, which lack the column. */
const READ_FORMAT = `SELECT (to_json(f)->>'format')::integer AS format FROM floodgate_traces.format AS f`;

/**
 * Returns true if this release can use the tables, false if there are none. Throws `TraceStoreUnavailable` if they
 * have another format.
 */
async function isUsable(query: Query): Promise<boolean> {
  if ((await query(FORMAT_EXISTS)).length === 0) return false;
  const [row] = await query<{ format: number | null }>(READ_FORMAT);
  const format = row?.format ?? 0;
  if (format === FORMAT) return true;
  throw new TraceStoreUnavailable(
    format > FORMAT
      ? `PostgreSQL: the schema floodgate_traces has format ${format}, this release knows ${FORMAT}: use a later release`
      : 'PostgreSQL: the schema floodgate_traces was written before 0.1.0; use new databases in PostgreSQL and ClickHouse, or drop ' +
          'the schema and the tables (docs/operate/upgrade.md)',
  );
}
