import type { Database, Query } from './database.ts';
import { TraceStoreUnavailable } from './failures.ts';

/** Any number, the same for every instance: who holds its lock migrates. */
const MIGRATION_LOCK = 7_316_480_222;

/** The first makes format 1, and so on. One that was released is never changed. */
const MIGRATIONS = [
  `
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
    chain bigint NOT NULL, segment bigint NOT NULL, postings bigint NOT NULL, PRIMARY KEY (chain, segment));`,
];

/** The format that this release writes. */
const FORMAT = MIGRATIONS.length;

/** Brings the schema to the format of this release, in one transaction. */
export async function migrate(database: Database): Promise<void> {
  // Seen without a lock first: most of the time there is nothing to do, and no right to do it.
  if ((await formatOf(database.query)) === FORMAT) return;
  await database.transaction('', async (query) => {
    await query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const format = await formatOf(query);
    if (format === FORMAT) return;
    if (format > FORMAT)
      throw new TraceStoreUnavailable(
        `PostgreSQL: the schema floodgate_traces has format ${format}, this release knows ${FORMAT}: use a later release`,
      );
    if (format === 0) {
      if ((await query(SCHEMA_IS_THERE)).length === 0) await query('CREATE SCHEMA floodgate_traces');
      await query('CREATE TABLE floodgate_traces.format (version integer NOT NULL)');
      await query('INSERT INTO floodgate_traces.format VALUES (0)');
    }
    for (const statements of MIGRATIONS.slice(format))
      for (const statement of statements.split(';')) if (statement.trim() !== '') await query(statement);
    await query('UPDATE floodgate_traces.format SET version = $1', [FORMAT]);
  });
}

const SCHEMA_IS_THERE = `SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'floodgate_traces'`;
const FORMAT_IS_THERE = `SELECT FROM pg_catalog.pg_class WHERE relname = 'format'
  AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'floodgate_traces')`;

async function formatOf(query: Query): Promise<number> {
  if ((await query(FORMAT_IS_THERE)).length === 0) return 0;
  const [format] = await query<{ version: number }>('SELECT version FROM floodgate_traces.format');
  return format?.version ?? 0;
}
