import type {
  BlockRange,
  ChainIdentity,
  Order,
  StoredBlock,
  TraceFailure,
  UnavailableBlock,
} from '../../../traces/index.ts';
import type { Database } from '../connection/database.ts';
import { hex } from '../tables/hashes.ts';
import type { ChunkedBlock } from '../tables/tracePosition.ts';
import { type Attempts, attemptsOf, BLOCK_AS_BYTES, RangeBlocks, UNUSUAL } from './rangeBlocks.ts';
import { RANGE, type WideQuery, WideReader, type WideState } from './wideReader.ts';

const READ_ONLY = 'ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** State of a range of blocks, as PostgreSQL records it. It is read before ClickHouse is queried. */
export interface RangeState {
  readonly span: RangeBlocks;
  readonly attempts: Attempts;
}

export interface TimedBlock extends ChunkedBlock {
  readonly timestamp: number;
}

interface BlockRow {
  readonly number: number;
  readonly hash: Buffer;
  readonly parent: Buffer;
  readonly timestamp: number;
  readonly traces: number;
  readonly unavailable: TraceFailure | null;
}

type ChunkedRow = Omit<TimedBlock, 'hash'> & { readonly hash: Buffer };

const CHUNKED_BLOCK =
  'number, hash, attempt, traces, timestamp FROM floodgate_traces.blocks WHERE is_canonical';
/** SQL: the reason why block b is unavailable, or null if it is not. */
const REASON =
  '(SELECT reason FROM floodgate_traces.unavailable u WHERE u.chain = b.chain AND u.number = b.number)';
const BLOCK = `number, hash, parent, timestamp, traces, ${REASON} AS unavailable
  FROM floodgate_traces.blocks b WHERE is_canonical`;
/** SQL: the block numbers from $2 to $3 whose blocks are neither in the index nor unavailable. */
const MISSING = `${RANGE} - present - coalesce((
  SELECT range_agg(int8range(number, number, '[]')) FROM floodgate_traces.unavailable
  WHERE chain = $1 AND number BETWEEN $2 AND $3), '{}')`;

/** Reads the state of a network's index from PostgreSQL. Each result is a consistent snapshot. */
export class ChainReader {
  readonly #database: Database;
  readonly network: string;
  readonly id: number;

  constructor(database: Database, { network, id }: { readonly network: string; readonly id: number }) {
    this.#database = database;
    this.network = network;
    this.id = id;
  }

  async identity(): Promise<ChainIdentity | undefined> {
    const [row] = await this.#database.query<{ chain_id: number | null; genesis: Buffer | null }>(
      'SELECT chain_id, genesis FROM floodgate_traces.chains WHERE network = $1',
      [this.network],
    );
    if (row?.chain_id == null || row.genesis === null) return undefined;
    return { chainId: row.chain_id, genesisHash: hex(row.genesis) };
  }

  async finalized(): Promise<number | undefined> {
    const [row] = await this.#database.query<{ finalized: number | null }>(
      'SELECT finalized FROM floodgate_traces.chains WHERE network = $1',
      [this.network],
    );
    return row?.finalized ?? undefined;
  }

  async lastBlock(upTo: number): Promise<StoredBlock | undefined> {
    const [row] = await this.#database.query<BlockRow>(
      `SELECT ${BLOCK} AND chain = $1 AND number <= $2 ORDER BY number DESC LIMIT 1`,
      [this.id, Math.min(upTo, Number.MAX_SAFE_INTEGER)],
    );
    return row && blockOf(row);
  }

  async blocks(numbers: readonly number[]): Promise<StoredBlock[]> {
    const rows = await this.#database.query<BlockRow>(`SELECT ${BLOCK} AND chain = $1 AND number = ANY($2)`, [
      this.id,
      numbers,
    ]);
    return rows.map(blockOf);
  }

  /** Returns blocks by number, with the values by which their chunks are found in ClickHouse. */
  async timedBlocks(numbers: readonly number[]): Promise<Map<number, TimedBlock>> {
    if (numbers.length === 0) return new Map();
    const rows = await this.#database.query<ChunkedRow>(
      `SELECT ${CHUNKED_BLOCK} AND chain = $1 AND number = ANY($2)`,
      [this.id, numbers],
    );
    return new Map(rows.map((row) => [row.number, { ...row, hash: hex(row.hash) }]));
  }

  /** Returns the blocks of a range that have traces, in the given order, at most `max`. */
  async tracedBlocks({ fromBlock, toBlock }: BlockRange, order: Order, max: number): Promise<TimedBlock[]> {
    const rows = await this.#database.query<ChunkedRow>(
      `SELECT ${CHUNKED_BLOCK} AND chain = $1 AND number BETWEEN $2 AND $3 AND traces > 0
        ORDER BY number ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT $4`,
      [this.id, fromBlock, toBlock, max],
    );
    return rows.map((row) => ({ ...row, hash: hex(row.hash) }));
  }

  async firstMissing(fromBlock: number, toBlock: number): Promise<number | undefined> {
    if (fromBlock > toBlock) return undefined;
    const [row] = await this.#database.query<{ first: number | null }>(
      `SELECT lower(${MISSING}) AS first FROM floodgate_traces.chains WHERE id = $1`,
      [this.id, fromBlock, toBlock],
    );
    return row?.first ?? undefined;
  }

  async countMissing(fromBlock: number, toBlock: number): Promise<number> {
    const [row] = await this.#database.query<{ missing: number }>(
      `SELECT coalesce(sum(upper(gap) - lower(gap)), 0)::bigint AS missing
        FROM floodgate_traces.chains, unnest(${MISSING}) AS gap WHERE id = $1`,
      [this.id, fromBlock, toBlock],
    );
    return row?.missing ?? 0;
  }

  /** Returns the unavailable blocks of a range in ascending order, at most `max`. */
  async unavailable(fromBlock: number, toBlock: number, max: number): Promise<UnavailableBlock[]> {
    const rows = await this.#database.query<BlockRow & { readonly unavailable: TraceFailure }>(
      `SELECT ${BLOCK} AND chain = $1 AND number IN (
          SELECT number FROM floodgate_traces.unavailable
          WHERE chain = $1 AND number BETWEEN $2 AND $3 ORDER BY number LIMIT $4)
        ORDER BY number`,
      [this.id, fromBlock, Math.min(toBlock, Number.MAX_SAFE_INTEGER), max],
    );
    return rows.map((row) => ({ ...blockOf(row), unavailable: row.unavailable }));
  }

  /** Returns the state of a range of blocks, or undefined if one of the blocks is missing or unavailable. */
  async range(fromBlock: number, toBlock: number): Promise<RangeState | undefined> {
    const [row] = await this.#database.query<{
      whole: boolean;
      blocks: Buffer | null;
      unusual: [number, number][] | null;
    }>(
      `SELECT isempty(${RANGE} - c.present) AS whole,
        (SELECT string_agg(${BLOCK_AS_BYTES}, ''::bytea ORDER BY number) FROM floodgate_traces.blocks b
          WHERE b.chain = $1 AND b.is_canonical AND b.number BETWEEN $2 AND $3) AS blocks,
        (SELECT json_agg(json_build_array(number, attempt)) FROM (${UNUSUAL}) u) AS unusual
      FROM floodgate_traces.chains c WHERE c.id = $1`,
      [this.id, fromBlock, toBlock],
    );
    if (row === undefined || !row.whole || row.blocks === null) return undefined;
    const unusual = (row.unusual ?? []).map(([number, attempt]) => ({ number, attempt }));
    return { span: new RangeBlocks(this.id, fromBlock, row.blocks), attempts: attemptsOf(unusual) };
  }

  /**
   * Returns the state of a range of any size, in which blocks may be missing. Throws BlockReplacedError if the block
   * of the cursor was replaced.
   */
  wide(query: WideQuery): Promise<WideState> {
    return this.#database.transaction(READ_ONLY, (run) => new WideReader(run, this.id).read(query));
  }
}

const blockOf = ({ number, hash, parent, timestamp, traces, unavailable }: BlockRow): StoredBlock => ({
  ...{ number, hash: hex(hash), parentHash: hex(parent), timestamp, traceCount: traces },
  ...(unavailable !== null && { unavailable }),
});
