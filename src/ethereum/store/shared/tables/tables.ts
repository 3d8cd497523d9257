import { type ClickHouse, isUnknownSetting } from '../connection/clickHouse.ts';
import { TraceStoreUnavailable, WrongTables } from '../connection/failures.ts';

/** Number of blocks in one partition of a table. */
export const BLOCKS_PER_PARTITION = 1_048_576;
/**
 * Approximate number of table parts that ClickHouse merges into one. It is twice the default, so that rows are
 * rewritten less often.
 */
const MERGE_BASE = 10;
/** Disables column statistics, which no query uses. Releases that create them by default have this setting. */
const WITHOUT_STATISTICS = ", auto_statistics_types = ''";
/** Number of recent inserts that a table remembers. If one of them is repeated, ClickHouse ignores the repetition. */
const REMEMBERED_INSERTS = 1_000;

/** The highest block number, and the highest version of a block. */
export const MAX_UINT32 = 2 ** 32 - 1;

/** SQL: the segment of a row. The projection by segment is used only for this exact expression. */
export const SEGMENT = 'intDiv(number, 1024)';
const BY_SEGMENT = `PROJECTION by_segment (SELECT chain, ${SEGMENT}, count(), sum(write) GROUP BY chain, ${SEGMENT})`;

interface Table {
  /** Types by name, in the order in which rows are inserted. */
  readonly columns: Readonly<Record<string, string>>;
  readonly projections?: readonly string[];
  readonly order: string;
  readonly settings: string;
}

const CHAIN = 'UInt64';
const NUMBER = 'UInt32 CODEC(Delta, ZSTD(1))';
const WRITE = 'UInt64 CODEC(ZSTD(1))';

const TABLES = {
  trace_chunks: {
    // The chunks use LZ4, because ZSTD would save a tenth of the space but need twice the CPU time in each merge.
    columns: {
      chain: CHAIN,
      number: NUMBER,
      write: WRITE,
      chunk: 'UInt32 CODEC(Delta, ZSTD(1))',
      checksum: 'UInt64 CODEC(NONE)',
      bytes: 'String CODEC(LZ4)',
    },
    order: 'chain, number, write, chunk',
    settings: 'index_granularity = 16, min_compress_block_size = 16384, max_compress_block_size = 262144',
  },
  trace_parties: {
    columns: {
      chain: CHAIN,
      number: NUMBER,
      write: WRITE,
      address: 'FixedString(20) CODEC(ZSTD(1))',
      trace_index: 'UInt32 CODEC(ZSTD(1))',
      sides: 'UInt8 CODEC(ZSTD(1))',
      attributes: 'UInt16 CODEC(ZSTD(1))',
      value: 'UInt256 CODEC(ZSTD(1))',
    },
    projections: [
      'PROJECTION by_block (SELECT chain, number, write, count() GROUP BY chain, number, write)',
      BY_SEGMENT,
    ],
    order: 'chain, address, number, trace_index',
    settings: 'index_granularity = 1024',
  },
  trace_blocks: {
    columns: {
      chain: CHAIN,
      number: NUMBER,
      version: 'UInt32 CODEC(ZSTD(1))',
      exactness: 'UInt8 CODEC(ZSTD(1))',
      failure: 'UInt8 CODEC(ZSTD(1))',
      write: WRITE,
      hash: 'FixedString(32)',
      parent: 'FixedString(32)',
      timestamp: 'UInt64 CODEC(Delta, ZSTD(1))',
      traces: 'UInt32 CODEC(ZSTD(1))',
      chunks: 'UInt32 CODEC(ZSTD(1))',
      parties: 'UInt32 CODEC(ZSTD(1))',
      digest: 'FixedString(32)',
      checksum: 'UInt64',
    },
    projections: [BY_SEGMENT],
    order: 'chain, number',
    settings: 'index_granularity = 256',
  },
  trace_segments: {
    columns: {
      chain: CHAIN,
      number: NUMBER,
      blocks: 'UInt64',
      block_sum: 'UInt64',
      parties: 'UInt64',
      party_sum: 'UInt64',
      parent: 'FixedString(32)',
      last: 'FixedString(32)',
      ignored: 'Array(UInt64)',
      checksum: 'UInt64',
    },
    order: 'chain, number',
    settings: 'index_granularity = 256',
  },
} satisfies Readonly<Record<string, Table>>;

export type TableName = keyof typeof TABLES;

export const columnsOf = (table: TableName): string => Object.keys(TABLES[table].columns).join(', ');

/** Creates the missing tables; on a cluster, as replicated tables on all of its servers. */
export async function makeTables(clickHouse: ClickHouse, cluster: string | undefined): Promise<void> {
  for (const [name, table] of Object.entries(TABLES)) {
    const create = (setting: string): Promise<void> =>
      clickHouse.command(createStatement(name, table, { cluster, setting }));
    await create(WITHOUT_STATISTICS).catch((error: unknown) => {
      if (error instanceof TraceStoreUnavailable && isUnknownSetting(error)) return create('');
      throw error;
    });
  }
}

/** Throws WrongTables if a table or a column is missing. */
export async function checkTables(clickHouse: ClickHouse): Promise<void> {
  for (const [name, { columns }] of Object.entries(TABLES)) {
    const from = `FROM (SELECT ${Object.keys(columns).join(', ')} FROM ${name} WHERE chain = 0 LIMIT 1)`;
    await clickHouse
      .row({ columns: 'count()', from }, (row) => row.uint64())
      .catch((error: unknown) => {
        if (!(error instanceof WrongTables)) throw error;
        throw new WrongTables(
          `the table ${name} is missing, or lacks a column: run floodgate store migrate on a new database`,
          { cause: error },
        );
      });
  }
}

function createStatement(
  name: string,
  { columns, projections = [], order, settings }: Table,
  { cluster, setting }: { readonly cluster: string | undefined; readonly setting: string },
): string {
  const [onCluster, engine, remembered] =
    cluster === undefined
      ? ['', 'MergeTree', `, non_replicated_deduplication_window = ${REMEMBERED_INSERTS}`]
      : [
          ` ON CLUSTER ${cluster}`,
          `ReplicatedMergeTree('/clickhouse/tables/{database}/${name}', '{replica}')`,
          '',
        ];
  const members = [...Object.entries(columns).map((column) => column.join(' ')), ...projections].join(', ');
  return `CREATE TABLE IF NOT EXISTS ${name}${onCluster} (${members}) ENGINE = ${engine}
    PARTITION BY (chain, intDiv(number, ${BLOCKS_PER_PARTITION})) ORDER BY (${order})
    SETTINGS ${settings}, merge_selector_base = ${MERGE_BASE}${setting}${remembered}`;
}
