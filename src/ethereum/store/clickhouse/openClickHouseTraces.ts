import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../../platform/logging/index.ts';
import { parseAddress } from './connection/address.ts';
import { ClickHouse } from './connection/clickHouse.ts';
import { Database } from './connection/database.ts';
import { History } from './history/history.ts';
import { ChainReader } from './reads/chainReader.ts';
import { ChunkReader } from './reads/chunks.ts';
import { prepareSchema } from './tables/schema.ts';
import { makeTables } from './tables/tables.ts';
import { ClickHouseTraceStore } from './traceStore.ts';
import { ChainWriter } from './writes/chainWriter.ts';
import { IndexFollower } from './writes/follower.ts';
import { Lease } from './writes/lease.ts';
import { IndexWriter } from './writes/writer.ts';

export interface ClickHouseTracesOptions {
  /** clickhouse://USER:PASSWORD@HOST:8443/DATABASE, with the parameters of `parseAddress`. */
  readonly url: string;
  /** URL of the PostgreSQL database that contains the list of valid blocks and the write lease. */
  readonly postgres: string;
  /** Network name. Each network has its own index in the same tables. */
  readonly network: string;
  /** If true, this instance never writes a change, but waits until another instance has made it. Default: false. */
  readonly isReader?: boolean;
}

const MAX_ID = 2 ** 32;
const CLOSE_TIMEOUT_MS = 3_000;

/**
 * Opens the shared trace index of a network, and creates missing tables. Throws BadTraceStoreUrl if a URL is invalid,
 * TraceStoreUnavailable if a database is unreachable or unusable.
 */
export async function openClickHouseTraces(
  { url, postgres, network, isReader = false }: ClickHouseTracesOptions,
  { log }: { readonly log: Log },
): Promise<ClickHouseTraceStore> {
  const address = parseAddress(url);
  const database = new Database(postgres);
  const clickHouse = new ClickHouse(address);
  const close = async (): Promise<void> => {
    // The databases may be unreachable, so closing has a timeout.
    const closed = Promise.all([database.close(), clickHouse.close()]);
    await Promise.race([closed, pause(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  };
  try {
    await prepareSchema(database);
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

/**
 * Returns the id of a network's index. New ids are random. If PostgreSQL is reset, the network therefore gets another
 * id, which old rows in ClickHouse do not match.
 */
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
