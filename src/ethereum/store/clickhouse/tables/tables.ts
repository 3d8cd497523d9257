import { type ClickHouse, isUnknownSetting } from '../connection/clickHouse.ts';
import { TraceStoreUnavailable } from '../connection/failures.ts';

/**
 * Names of the ClickHouse tables. In a cluster, tables are replicated and queried through distributed tables named
 * `…_all`.
 */
export interface Tables {
  readonly chunks: string;
  readonly byAddress: string;
  /** The tables of each server. Rows are deleted from these, with `onCluster` after the table name. */
  readonly localTables: readonly { readonly table: string }[];
  readonly onCluster: string;
}

export const CHUNK_COLUMNS = 'chain, number, chunk, attempt, bytes';
export const ADDRESS_COLUMNS = 'chain, address, number, trace_index, attempt, sides, attributes, value';

/**
 * Number of blocks in one partition of a table. To delete the rows of a block, ClickHouse rewrites at most one
 * partition.
 */
const BLOCKS_PER_PARTITION = 1_048_576;
/**
 * Approximate number of table parts that ClickHouse merges into one. It is twice the default, so that rows are
 * rewritten less often.
 */
const MERGE_BASE = 10;
/** Disables column statistics, which no query uses. Releases that create them by default have this setting. */
const WITHOUT_STATISTICS = ", auto_statistics_types = ''";
/** Number of recent inserts that a table remembers. If one of them is repeated, ClickHouse ignores the repetition. */
const REMEMBERED_INSERTS = 1_000;

/**
 * Columns of the table of chunks. The chunks use LZ4, because ZSTD would save a tenth of the space but need twice the
 * CPU time in each of four or five merges.
 */
const CHUNKS = `(
  chain UInt32, number UInt32 CODEC(Delta, ZSTD(1)), chunk UInt32 CODEC(Delta, ZSTD(1)), attempt UInt16 CODEC(ZSTD(1)),
  bytes String CODEC(LZ4))`;
const CHUNKS_ORDER = `PARTITION BY intDiv(number, ${BLOCKS_PER_PARTITION}) ORDER BY (chain, number, chunk, attempt)
  SETTINGS index_granularity = 16, min_compress_block_size = 16384, max_compress_block_size = 262144`;

const BY_ADDRESS = `(
  chain UInt32, address FixedString(20) CODEC(ZSTD(1)), number UInt32 CODEC(Delta, ZSTD(1)),
  trace_index UInt32 CODEC(ZSTD(1)), attempt UInt16 CODEC(ZSTD(1)), sides UInt8 CODEC(ZSTD(1)),
  attributes UInt16 CODEC(ZSTD(1)), value UInt256 CODEC(ZSTD(1)),
  PROJECTION counts (SELECT chain, number, attempt, count() GROUP BY chain, number, attempt))`;
const BY_ADDRESS_ORDER = `PARTITION BY intDiv(number, ${BLOCKS_PER_PARTITION}) ORDER BY (chain, address, number, trace_index)
  SETTINGS index_granularity = 1024`;

export async function makeTables(clickHouse: ClickHouse, cluster: string | undefined): Promise<Tables> {
  const onCluster = cluster === undefined ? '' : ` ON CLUSTER ${cluster}`;
  const remembered =
    cluster === undefined ? `, non_replicated_deduplication_window = ${REMEMBERED_INSERTS}` : '';
  const make = async (table: string, columns: string, order: string): Promise<string> => {
    const engine =
      cluster === undefined
        ? 'MergeTree'
        : `ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/${table}', '{replica}')`;
    const create = (setting: string): Promise<void> =>
      clickHouse.command(
        `CREATE TABLE IF NOT EXISTS ${table}${onCluster} ${columns} ENGINE = ${engine} ${order}, merge_selector_base = ${MERGE_BASE}${setting}${remembered}`,
      );
    await create(WITHOUT_STATISTICS).catch((error: unknown) => {
      if (error instanceof TraceStoreUnavailable && isUnknownSetting(error)) return create('');
      throw error;
    });
    if (cluster === undefined) return table;
    // Rows are sharded by block number, so that all rows of a block are on one shard.
    await clickHouse.command(
      `CREATE TABLE IF NOT EXISTS ${table}_all${onCluster} AS ${table}
        ENGINE = Distributed(${cluster}, currentDatabase(), ${table}, intHash64(number))`,
    );
    return `${table}_all`;
  };
  const chunks = await make('trace_chunks', CHUNKS, CHUNKS_ORDER);
  const byAddress = await make('by_address', BY_ADDRESS, BY_ADDRESS_ORDER);
  return { chunks, byAddress, onCluster, localTables: [{ table: 'trace_chunks' }, { table: 'by_address' }] };
}
