import type { BlockRange, ChainIdentity, Order, StoredBlock } from '../../traces/index.ts';
import type { Database } from './database.ts';
import { hex } from './hashes.ts';
import type { ChunkedBlock } from './place.ts';
import { type Attempts, attemptsOf, BLOCK_AS_BYTES, Span, UNUSUAL } from './span.ts';
import { RANGE, type WideQuery, WideReader, type WideState } from './wideReader.ts';

const READ_ONLY = 'ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** What is known of a range before ClickHouse is asked about it. */
export interface RangeState {
  readonly span: Span;
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
}

type ChunkedRow = Omit<TimedBlock, 'hash'> & { readonly hash: Buffer };

const CHUNKED_BLOCK =
  'number, hash, attempt, traces, timestamp FROM floodgate_traces.blocks WHERE is_canonical';
const BLOCK = 'number, hash, parent, timestamp, traces FROM floodgate_traces.blocks WHERE is_canonical';

/** What stands in PostgreSQL about the index of a network. Each answer is of one moment. */
export class ChainReader {
  readonly #database: Database;
  readonly network: string;
  /** The number of the index in ClickHouse's rows. */
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

  /** The highest block up to a number. */
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

  /** Blocks by their numbers, with what their chunks are found by. */
  async timedBlocks(numbers: readonly number[]): Promise<Map<number, TimedBlock>> {
    if (numbers.length === 0) return new Map();
    const rows = await this.#database.query<ChunkedRow>(
      `SELECT ${CHUNKED_BLOCK} AND chain = $1 AND number = ANY($2)`,
      [this.id, numbers],
    );
    return new Map(rows.map((row) => [row.number, { ...row, hash: hex(row.hash) }]));
  }

  /** The first blocks of a range, in an order, that have traces. */
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
      `SELECT lower(${RANGE} - present) AS first FROM floodgate_traces.chains WHERE id = $1`,
      [this.id, fromBlock, toBlock],
    );
    return row?.first ?? undefined;
  }

  async countMissing(fromBlock: number, toBlock: number): Promise<number> {
    const [row] = await this.#database.query<{ missing: number }>(
      `SELECT coalesce(sum(upper(gap) - lower(gap)), 0)::bigint AS missing
        FROM floodgate_traces.chains, unnest(${RANGE} - present) AS gap WHERE id = $1`,
      [this.id, fromBlock, toBlock],
    );
    return row?.missing ?? 0;
  }

  /** Undefined where a block of the range is missing. */
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
    return { span: new Span(this.id, fromBlock, row.blocks), attempts: attemptsOf(unusual) };
  }

  /** Throws BlockReplacedError where the place is in a block that is not there any more. */
  wide(query: WideQuery): Promise<WideState> {
    return this.#database.transaction(READ_ONLY, (run) => new WideReader(run, this.id).read(query));
  }
}

const blockOf = ({ number, hash, parent, timestamp, traces }: BlockRow): StoredBlock => ({
  ...{ number, hash: hex(hash), parentHash: hex(parent), timestamp, traceCount: traces },
});
