import {
  type BlockRange,
  chunkOf,
  type FetchBlocks,
  findFrame,
  firstTraceFrom,
  type Hash,
  type HistoryQuery,
  isEmptyRange,
  type JsonWriter,
  type Order,
  rangeAfter,
  type StoredBlock,
  type SummaryQuery,
  segmentOf,
  type TraceFilter,
  type TraceReader,
  type TransactionLimits,
} from '../../traces/index.ts';
import type { ClickHouse } from './connection/clickHouse.ts';
import { UnprovenRead } from './connection/failures.ts';
import type { Hosts } from './connection/hosts.ts';
import { type Asked, type FramesAsked, readFramesPage, readPage, readSummary } from './history/history.ts';
import {
  byNumber,
  checkFetched,
  isWhole,
  type Reading,
  readNumbers,
  readRange,
  readRows,
  VALID_IN_RANGE,
} from './reads/blocks.ts';
import { FetchedBlocks } from './reads/fetchedBlocks.ts';
import { type FilterReading, filterPart } from './reads/filterPart.ts';
import { readBlockChunks } from './reads/readChunks.ts';
import { blocksOf, type ProvenReading, readCounted, Segments } from './reads/segments.ts';
import { findTransaction, type RootFrame } from './reads/transactions.ts';
import { traceAsJson, tracesAsJson } from './reads/writeTraces.ts';
import { type BlockRow, EXACTNESS, storedBlockOf, validRows } from './tables/blockRow.ts';
import type { TracePosition } from './tables/position.ts';
import { MAX_UINT32, SEGMENT } from './tables/tables.ts';

/** Number of blocks whose numbers one statement reads. */
const BLOCKS_PER_READ = 65_536;

interface ReaderOptions {
  readonly chain: bigint;
  /** Default: no states are known. */
  readonly segments?: Segments;
  /** Default: a read fails if the shared index does not prove its blocks. */
  readonly fetch?: FetchBlocks;
}

/** Reads that a local index and the shared index have in common. */
export type CommonReads = Pick<
  TraceReader,
  | 'block'
  | 'lastBlock'
  | 'firstMissing'
  | 'unavailable'
  | 'blockTraces'
  | 'transactionTraces'
  | 'transactionTrace'
  | 'transactionPosition'
>;

/** Reads the final blocks of a chain from the shared index. Every result is proven; otherwise the read fails. */
export class SharedReader implements CommonReads {
  readonly #hosts: Hosts;
  readonly #chain: bigint;
  readonly #segments: Segments;
  readonly #fetch: FetchBlocks | undefined;

  constructor(hosts: Hosts, { chain, segments = new Segments(), fetch }: ReaderOptions) {
    this.#hosts = hosts;
    this.#chain = chain;
    this.#segments = segments;
    this.#fetch = fetch;
  }

  /** Returns a reader that fetches blocks which the shared index lacks or does not prove, at most 16 for each read. */
  fetching(fetch: FetchBlocks): SharedReader {
    return new SharedReader(this.#hosts, { chain: this.#chain, segments: this.#segments, fetch });
  }

  async block(blockNumber: number) {
    const row = await this.#onHosts(async (reading) =>
      (await readNumbers(reading, [blockNumber])).get(blockNumber),
    );
    return row && storedBlockOf(row);
  }

  /** Returns the rows of the present blocks of a range, ascending. Fails if a block lacks rows by address. */
  countedRows(fromBlock: number, toBlock: number): Promise<readonly BlockRow[]> {
    return this.#onHosts((reading) => readCounted(reading, { fromBlock, toBlock }));
  }

  lastBlock(upTo: number) {
    return this.#edgeBlock({ fromBlock: 0, toBlock: Math.min(upTo, MAX_UINT32) }, 'desc');
  }

  /** Returns the number of the lowest present block. */
  async lowest(): Promise<number | undefined> {
    return (await this.#edgeBlock({ fromBlock: 0, toBlock: MAX_UINT32 }, 'asc'))?.number;
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
    const present = await this.#onHosts(({ host }) =>
      host.row({ columns: 'numbers', from, parameters }, (row) => new Set(row.array(() => row.uint32()))),
    );
    const numbers = Array.from({ length: toBlock - fromBlock + 1 }, (_, i) => fromBlock + i);
    return numbers.filter((number) => !present.has(number));
  }

  async unavailable(fromBlock: number, toBlock: number, max: number) {
    const valid = validRows(`number IN (SELECT number FROM trace_blocks WHERE chain = {chain:UInt64}
      AND number BETWEEN {first:UInt32} AND {last:UInt32} AND exactness = ${EXACTNESS.unavailable})`);
    const statement = `SELECT * FROM (${valid}) WHERE exactness = ${EXACTNESS.unavailable}
      ORDER BY number LIMIT {max:UInt32}`;
    const parameters = {
      chain: String(this.#chain),
      first: fromBlock,
      last: Math.min(toBlock, MAX_UINT32),
      max: Math.min(max, MAX_UINT32),
    };
    const rows = await this.#onHosts(({ host }) => readRows(host, statement, parameters));
    return [...byNumber(rows).values()].flatMap(({ unavailable, ...block }) =>
      unavailable === undefined ? [] : { ...storedBlockOf(block), unavailable },
    );
  }

  /** Returns the matches of a filter; undefined if a block of its range is missing or unavailable. */
  filter(filter: TraceFilter, options: FilterReading) {
    return this.#read((reading) => filterPart(reading, filter, options), filter);
  }

  blockTraces(blockNumber: number, maxBytes: number) {
    const range = { fromBlock: blockNumber, toBlock: blockNumber };
    return this.#read(async (reading) => {
      const blocks = await readRange(reading, range);
      const block = blocks.get(blockNumber);
      if (block === undefined || !isWhole(blocks, range)) return undefined;
      const chunks = await readBlockChunks(reading, [block], { maxBytes });
      return tracesAsJson({ places: placesIn(block, 0, block.traceCount), chunks, maxBytes });
    }, range);
  }

  transactionTraces(hash: Hash, limits: TransactionLimits) {
    return this.#findTransaction(hash, limits, async (reading, root) => {
      const { block, traceIndex, transactionPosition } = root;
      const { maxBytes } = limits;
      const chunks = await readBlockChunks(reading, [block], { maxBytes, firstChunk: chunkOf(traceIndex) });
      const next = { transactionPosition: transactionPosition + 1, traceAddress: [] };
      const others = { first: traceIndex + 1, end: block.traceCount };
      const end = firstTraceFrom(chunks.reader(block.number), others, next);
      return tracesAsJson({ places: placesIn(block, traceIndex, end), chunks, maxBytes });
    });
  }

  transactionTrace(hash: Hash, traceAddress: readonly number[], limits: TransactionLimits) {
    return this.#findTransaction(hash, limits, async (reading, root) => {
      const { block, traceIndex: first, transactionPosition } = root;
      const { number, traceCount: end } = block;
      const asked = { maxBytes: Number.MAX_SAFE_INTEGER, firstChunk: chunkOf(first) };
      const chunks = await readBlockChunks(reading, [block], asked);
      const place = { transactionPosition, traceAddress };
      const traceIndex = findFrame(chunks.reader(number), { first, end }, place);
      return traceIndex === undefined ? null : traceAsJson({ number, traceIndex }, chunks, limits.maxBytes);
    });
  }

  transactionPosition(hash: Hash, limits: Pick<TransactionLimits, 'upTo' | 'fromBlock'>) {
    return this.#findTransaction(hash, limits, async (_, { block, traceIndex }) => ({
      blockNumber: block.number,
      traceIndex,
      blockHash: block.hash,
    }));
  }

  addressTraces(
    asked: Asked<HistoryQuery>,
    output: { readonly maxBytes: number; readonly json: JsonWriter },
  ) {
    const { length } = output.json;
    return this.#read((reading) => {
      // An earlier attempt may have written traces before it failed.
      output.json.length = length;
      return readPage(reading, asked, output);
    });
  }

  frames<T>(asked: FramesAsked<T>) {
    return this.#read((reading) => readFramesPage(reading, asked));
  }

  addressSummary(asked: Asked<SummaryQuery>) {
    return this.#read((reading) => readSummary(reading, asked));
  }

  /** Runs a read that fetches no blocks. */
  #onHosts<T>(read: (reading: Reading) => Promise<T>): Promise<T> {
    const fetched = new FetchedBlocks(this.#chain);
    return this.#hosts.run((host) => read({ host, chain: this.#chain, fetched }));
  }

  /**
   * Runs a read on the hosts. While no host proves a few blocks, fetches these blocks and runs the read again. If the
   * result is undefined, because a block of `range` is missing, fetches the missing blocks.
   */
  async #read<T>(read: (reading: ProvenReading) => Promise<T>, range?: BlockRange): Promise<T> {
    const fetched = new FetchedBlocks(this.#chain, this.#fetch);
    const onHost = async (host: ClickHouse): Promise<T> => {
      const reading = { host, chain: this.#chain, segments: this.#segments, fetched };
      await checkFetched(reading);
      return read(reading);
    };
    for (;;)
      try {
        const found = await this.#hosts.run(onHost, ({ blocks }) => fetched.mayAdd(blocks));
        if (found !== undefined || range === undefined || this.#fetch === undefined) return found;
        const missing = await this.missingIn(range.fromBlock, range.toBlock);
        if (!fetched.mayAdd(missing)) return found;
        await fetched.add(missing);
      } catch (error) {
        if (!(error instanceof UnprovenRead && fetched.mayAdd(error.blocks))) throw error;
        await fetched.add(error.blocks);
      }
  }

  /** Finds the root frame of a transaction, and runs a read with it. */
  #findTransaction<T>(
    hash: Hash,
    { fromBlock, upTo }: Pick<TransactionLimits, 'upTo' | 'fromBlock'>,
    read: (reading: Reading, root: RootFrame) => Promise<T>,
  ): Promise<T | undefined> {
    const isOne = upTo !== undefined && fromBlock === upTo;
    return this.#read(
      async (reading) => {
        const root = await findTransaction(reading, hash, { fromBlock, upTo });
        return root && read(reading, root);
      },
      isOne ? { fromBlock, toBlock: upTo } : undefined,
    );
  }

  /** Returns the first present block of a range in the given order. */
  #edgeBlock(range: BlockRange, order: Order): Promise<StoredBlock | undefined> {
    const within = 'number BETWEEN {first:UInt32} AND {last:UInt32}';
    const segment = `SELECT ${SEGMENT} FROM trace_blocks WHERE chain = {chain:UInt64} AND ${within}
      ORDER BY number ${order} LIMIT 1`;
    const edge = `SELECT * FROM (${validRows(`${SEGMENT} = (${segment}) AND ${within}`)})
      ORDER BY exactness > 0 DESC, number ${order} LIMIT 1`;
    return this.#onHosts(async ({ host, chain }) => {
      for (let left = range; !isEmptyRange(left); ) {
        const parameters = { chain: String(chain), first: left.fromBlock, last: left.toBlock };
        const [row] = await readRows(host, edge, parameters);
        if (row === undefined) return undefined;
        if (row.exactness > EXACTNESS.missing) return storedBlockOf(row);
        // A rewind has removed all blocks of the segment.
        const { fromBlock, toBlock } = blocksOf(segmentOf(row.number));
        left = rangeAfter(left, order === 'asc' ? toBlock : fromBlock, order);
      }
      return undefined;
    });
  }
}

const placesIn = ({ number, write }: BlockRow, first: number, end: number): TracePosition[] =>
  Array.from({ length: end - first }, (_, i) => ({ number, traceIndex: first + i, write }));
