import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../../platform/logging/index.ts';
import { parseAddress } from './address.ts';
import { ChainReader } from './chainReader.ts';
import { ChainWriter } from './chainWriter.ts';
import { ChunkReader } from './chunks.ts';
import { ClickHouse } from './clickHouse.ts';
import { Database } from './database.ts';
import { IndexFollower } from './follower.ts';
import { History } from './history.ts';
import { Lease } from './lease.ts';
import { migrate } from './migrations.ts';
import { makeTables } from './tables.ts';
import { ClickHouseTraceStore } from './traceStore.ts';
import { IndexWriter } from './writer.ts';

export interface ClickHouseTracesOptions {
  /** clickhouse://USER:PASSWORD@HOST:8443/DATABASE, with what `parseAddress` knows. */
  readonly url: string;
  /** The PostgreSQL in which it stands which blocks count, and who writes. */
  readonly postgres: string;
  /** The name of the network: each has an index of its own in the same tables. */
  readonly network: string;
  /** This instance never writes: what it would change it waits for, as another writes it. Left out: it writes where no other does. */
  readonly isReader?: boolean;
}

const MAX_ID = 2 ** 32;
const CLOSE_TIMEOUT_MS = 3_000;

/**
 * Opens the index of a network that instances share, and makes its tables where they are missing. Throws BadTraceStoreUrl where a URL is
 * not as it should be, TraceStoreUnavailable where a database cannot be reached or used.
 */
export async function openClickHouseTraces(
  { url, postgres, network, isReader = false }: ClickHouseTracesOptions,
  { log }: { readonly log: Log },
): Promise<ClickHouseTraceStore> {
  const address = parseAddress(url);
  const database = new Database(postgres);
  const clickHouse = new ClickHouse(address);
  const close = async (): Promise<void> => {
    // Nobody may be there to say goodbye to.
    const closed = Promise.all([database.close(), clickHouse.close()]);
    await Promise.race([closed, pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  };
  try {
    await migrate(database);
    const id = await indexId(database, network);
    const tables = await makeTables(clickHouse, address.cluster);
    const reader = new ChainReader(database, { network, id });
    const chunks = new ChunkReader({ clickHouse, tables, chain: id });
    const parts = { clickHouse, tables, reader, chunks };
    const writer = isReader
      ? new IndexFollower({}, reader)
      : new IndexWriter({
          ...{ ...parts, log },
          ...{ chain: new ChainWriter(database, id), lease: new Lease(database) },
        });
    return new ClickHouseTraceStore({
      ...parts,
      ...{ history: new History(parts), writer },
      close: async () => {
        await writer.close();
        await close();
      },
    });
  } catch (error) {
    await close();
    throw error;
  }
}

/** At random, so that no rows are there of an index whose PostgreSQL was made anew. */
async function indexId(database: Database, network: string): Promise<number> {
  const select = 'SELECT id FROM floodgate_traces.chains WHERE network = $1';
  const [known] = await database.query<{ id: number }>(select, [network]);
  if (known !== undefined) return known.id;
  await database.query(
    'INSERT INTO floodgate_traces.chains (network, id) VALUES ($1, $2) ON CONFLICT (network) DO NOTHING',
    [network, randomInt(1, MAX_ID)],
  );
  const [made] = await database.query<{ id: number }>(select, [network]);
  return made?.id ?? 0;
}
