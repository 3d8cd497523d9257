import {
  type FramesPage,
  firstTraceFrom,
  type Hash,
  type HistoryPage,
  type HistoryPosition,
  type HistoryQuery,
  type HistorySummary,
  type JsonWriter,
  type StoredBlock,
  type SummaryQuery,
  TRACES_PER_CHUNK,
  type TraceFilter,
  type TransactionLimits,
  type UnavailableBlock,
} from '../../traces/index.ts';
import type { ClickHouse } from './connection/clickHouse.ts';
import type { Hosts } from './connection/hosts.ts';
import { type Asked, type FramesAsked, readFramesPage, readPage, readSummary } from './history/history.ts';
import { grouped, isWhole, readNumbers, readRange, VALID_IN_RANGE } from './reads/blocks.ts';
import { type Chunks, readBlockChunks } from './reads/chunks.ts';
import { type FilterPart, type FilterReading, filterPart } from './reads/filterPart.ts';
import { readCounted, Segments } from './reads/segments.ts';
import { findTransaction, type RootFrame } from './reads/transactions.ts';
import { frameAsJson, tracesAsJson } from './reads/writeTraces.ts';
import { type BlockRow, EXACTNESS, readBlockRow, storedBlockOf, validRows } from './tables/blockRow.ts';
import type { TracePosition } from './tables/position.ts';
import { SEGMENT } from './tables/tables.ts';

/** Number of blocks whose numbers one statement reads. */
const BLOCKS_PER_READ = 65_536;

/** Reads the final blocks of a chain from the shared index. Every result is proven; otherwise the read fails. */
export class SharedReader {
  readonly #hosts: Hosts;
  readonly #chain: bigint;
  readonly #segments: Segments;

  constructor(hosts: Hosts, chain: bigint) {
    this.#hosts = hosts;
    this.#chain = chain;
    this.#segments = new Segments(chain);
  }

  async block(blockNumber: number): Promise<StoredBlock | undefined> {
    const rows = await this.#hosts.read((host) => readNumbers(host, this.#chain, [blockNumber]));
    const row = rows.get(blockNumber);
    return row && storedBlockOf(row);
  }

  /** Returns the rows of the present blocks of a range, ascending. Fails if a block lacks rows by address. */
  countedRows(fromBlock: number, toBlock: number): Promise<readonly BlockRow[]> {
    return this.#hosts.read((host) => readCounted(host, this.#chain, { fromBlock, toBlock }));
  }

  /** Returns the highest present block up to `upTo`. */
  lastBlock(upTo: number): Promise<StoredBlock | undefined> {
    return this.#hosts.read(async (host) => {
      const row = await this.#edgeRow(host, 'DESC', Math.min(upTo, 2 ** 32 - 1));
      return row && storedBlockOf(row);
    });
  }

  /** Returns the number of the lowest present block. */
  lowest(): Promise<number | undefined> {
    return this.#hosts.read(async (host) => (await this.#edgeRow(host, 'ASC', 2 ** 32 - 1))?.number);
  }

  async firstMissing(fromBlock: number, toBlock: number): Promise<number | undefined> {
    for (let first = fromBlock; first <= toBlock; first += BLOCKS_PER_READ) {
      const [missing] = await this.missingIn(first, Math.min(toBlock, first + BLOCKS_PER_READ - 1));
      if (missing !== undefined) return missing;
    }
    return undefined;
  }

  /** Lists the missing blocks of a range of at most 65,536 blocks. */
  async missingIn(fromBlock: number, toBlock: number): Promise<number[]> {
    const from = `FROM (SELECT groupArray(number) AS numbers FROM (${VALID_IN_RANGE}) WHERE exactness > 0)`;
    const parameters = { chain: String(this.#chain), first: fromBlock, last: toBlock };
    const present = await this.#hosts.read((host) =>
      host.row({ columns: 'numbers', from, parameters }, 0, (row) => new Set(row.array(() => row.uint32()))),
    );
    const numbers = Array.from({ length: toBlock - fromBlock + 1 }, (_, i) => fromBlock + i);
    return numbers.filter((number) => !present.has(number));
  }

  /** Returns the unavailable blocks of a range, ascending, at most `max`. */
  async unavailable(fromBlock: number, toBlock: number, max: number): Promise<readonly UnavailableBlock[]> {
    const valid = validRows(`number IN (SELECT number FROM trace_blocks WHERE chain = {chain:UInt64}
      AND number BETWEEN {first:UInt32} AND {last:UInt32} AND exactness = ${EXACTNESS.unavailable})`);
    const from = `FROM (${grouped(`SELECT * FROM (${valid}) WHERE exactness = ${EXACTNESS.unavailable}
      ORDER BY number LIMIT {max:UInt32}`)})`;
    const parameters = {
      ...{ chain: String(this.#chain), first: fromBlock, last: Math.min(toBlock, 2 ** 32 - 1) },
      max: Math.min(max, 2 ** 32 - 1),
    };
    const rows = await this.#hosts.read((host) =>
      host.row({ columns: 'blocks', from, parameters }, 0, (row) => row.array(() => readBlockRow(row))),
    );
    return rows
      .sort((a, b) => a.number - b.number)
      .flatMap((row) => {
        const { unavailable, ...block } = storedBlockOf(row);
        return unavailable === undefined ? [] : { ...block, unavailable };
      });
  }

  /** Returns the matches of a filter; undefined if a block of its range is missing or unavailable. */
  filter(
    filter: TraceFilter,
    options: Pick<FilterReading, 'maxBytes' | 'json'>,
  ): Promise<FilterPart | undefined> {
    return this.#hosts.find((host) => filterPart(host, { chain: this.#chain, ...options }, filter));
  }

  blockTraces(blockNumber: number, maxBytes: number): Promise<Buffer | undefined> {
    return this.#hosts.find(async (host) => {
      const range = { fromBlock: blockNumber, toBlock: blockNumber };
      const blocks = await readRange(host, this.#chain, range);
      const block = blocks.get(blockNumber);
      if (block === undefined || !isWhole(blocks, range)) return undefined;
      const chunks = await readBlockChunks(host, { chain: this.#chain, maxBytes }, block);
      return tracesAsJson({ places: placesFrom(block, 0, block.traceCount), chunks, maxBytes });
    });
  }

  transactionTraces(hash: Hash, { maxBytes, upTo }: TransactionLimits): Promise<Buffer | undefined> {
    return this.#hosts.find(async (host) => {
      const found = await this.#transaction(host, hash, { upTo, maxBytes });
      if (found === undefined) return undefined;
      const { block, traceIndex, transactionPosition, chunks } = found;
      const chunkAt = (index: number) => chunks.containing({ number: block.number, traceIndex: index });
      const next = { transactionPosition: transactionPosition + 1, traceAddress: [] };
      const end = firstTraceFrom(chunkAt, { first: traceIndex + 1, end: block.traceCount }, next);
      return tracesAsJson({ places: placesFrom(block, traceIndex, end), chunks, maxBytes });
    });
  }

  transactionTrace(
    hash: Hash,
    traceAddress: readonly number[],
    { maxBytes, upTo }: TransactionLimits,
  ): Promise<Buffer | null | undefined> {
    return this.#hosts.find(async (host) => {
      const found = await this.#transaction(host, hash, { upTo, maxBytes: Number.MAX_SAFE_INTEGER });
      if (found === undefined) return undefined;
      const { block, traceIndex: first, transactionPosition, chunks } = found;
      const place = { transactionPosition, traceAddress };
      const range = { first, end: block.traceCount };
      return frameAsJson({ number: block.number, range, place, chunks, maxBytes });
    });
  }

  transactionPosition(
    hash: Hash,
    { upTo }: Pick<TransactionLimits, 'upTo'>,
  ): Promise<HistoryPosition | undefined> {
    return this.#hosts.find(async (host) => {
      const root = await findTransaction(this.#parts(host), hash, upTo);
      if (root === undefined) return undefined;
      const { block, traceIndex } = root;
      return { blockNumber: block.number, traceIndex, blockHash: block.hash };
    });
  }

  addressTraces(
    asked: Asked<HistoryQuery>,
    output: { readonly maxBytes: number; readonly json: JsonWriter },
  ): Promise<HistoryPage> {
    const { length } = output.json;
    return this.#hosts.read((host) => {
      // An earlier attempt may have written traces before it failed.
      output.json.length = length;
      return readPage(this.#parts(host), asked, output);
    });
  }

  frames<T>(asked: FramesAsked<T>): Promise<FramesPage<T>> {
    return this.#hosts.read((host) => readFramesPage(this.#parts(host), asked));
  }

  addressSummary(asked: Asked<SummaryQuery>): Promise<HistorySummary> {
    return this.#hosts.read((host) => readSummary(this.#parts(host), asked));
  }

  #parts(host: ClickHouse) {
    return { host, chain: this.#chain, segments: this.#segments };
  }

  /** Returns the row of the highest or lowest present block up to `upTo`. Skips heights that a rewind has removed. */
  async #edgeRow(host: ClickHouse, order: 'ASC' | 'DESC', upTo: number): Promise<BlockRow | undefined> {
    const isDescending = order === 'DESC';
    let bound = isDescending ? upTo : 0;
    for (;;) {
      const within = isDescending ? 'number <= {bound:UInt32}' : `number BETWEEN {bound:UInt32} AND ${upTo}`;
      const segment = `SELECT ${SEGMENT} FROM trace_blocks WHERE chain = {chain:UInt64} AND ${within}
        ORDER BY number ${order} LIMIT 1`;
      const valid = validRows(`${SEGMENT} = (${segment}) AND ${within}`);
      const from = `FROM (SELECT groupArray(number) AS heights FROM (${valid})) AS h CROSS JOIN (${grouped(
        `SELECT * FROM (${valid}) WHERE exactness > 0 ORDER BY number ${order} LIMIT 1`,
      )}) AS b`;
      const parameters = { chain: String(this.#chain), bound };
      const { heights, rows } = await host.row(
        { columns: 'heights, blocks', from, parameters },
        0,
        (row) => ({
          heights: row.array(() => row.uint32()),
          rows: row.array(() => readBlockRow(row)),
        }),
      );
      if (rows[0] !== undefined || heights.length === 0) return rows[0];
      bound = isDescending ? Math.min(...heights) - 1 : Math.max(...heights) + 1;
      if (bound < 0) return undefined;
    }
  }

  /** Returns the root frame of a transaction, and all chunks of its block from the frame's chunk on. */
  async #transaction(
    host: ClickHouse,
    hash: Hash,
    { upTo, maxBytes }: TransactionLimits,
  ): Promise<(RootFrame & { readonly chunks: Chunks }) | undefined> {
    const root = await findTransaction(this.#parts(host), hash, upTo);
    if (root === undefined) return undefined;
    const firstChunk = Math.floor(root.traceIndex / TRACES_PER_CHUNK);
    const chunks = await readBlockChunks(host, { chain: this.#chain, maxBytes, firstChunk }, root.block);
    return { ...root, chunks };
  }
}

const placesFrom = ({ number, write }: BlockRow, first: number, end: number): TracePosition[] =>
  Array.from({ length: end - first }, (_, i) => ({ number, traceIndex: first + i, write }));
