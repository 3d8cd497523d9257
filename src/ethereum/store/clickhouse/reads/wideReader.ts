import {
  type BlockRange,
  BlockReplacedError,
  firstBlockOf,
  type HistoryPosition,
  type Order,
  segmentOf,
} from '../../../traces/index.ts';
import type { Query } from '../connection/database.ts';
import { hex } from '../tables/hashes.ts';
import { type Attempts, attemptsOf, UNUSUAL } from './rangeBlocks.ts';

/** SQL: the set of block numbers from $2 to $3. */
export const RANGE = `int8multirange(int8range($2, $3, '[]'))`;

/**
 * State of a range of any size, as PostgreSQL records it: the expected number of rows by segment, and missing blocks.
 */
export interface WideState {
  /** Random id of the index, which excludes the rows of other indexes in the same tables. */
  readonly chain: number;
  readonly range: BlockRange;
  readonly missing: readonly BlockRange[];
  /** Number of the last block, in query order, up to which `missing` is complete. Undefined if it is complete. */
  readonly missingUpTo: number | undefined;
  /**
   * The part of `range` to search in ClickHouse. It starts at the cursor's block and, unless `isWhole` is true, ends
   * where `missing` stops being complete.
   */
  readonly searchRange: BlockRange;
  readonly attempts: Attempts;
  /** Expected number of rows in `by_address` for `searchRange`, by segment. */
  readonly postings: ReadonlyMap<number, number>;
}

export interface WideQuery {
  readonly fromBlock: number | undefined;
  readonly toBlock: number;
  readonly order: Order;
  readonly cursor: HistoryPosition | undefined;
  /** Maximum number of ranges of missing blocks to report. If undefined, missing blocks are not searched for. */
  readonly maxMissing: number | undefined;
  readonly maxBlocks: number;
  /** If true, the whole range is searched even if not all ranges of missing blocks can be reported. */
  readonly isWhole?: true;
}

/** Reads the state of a range of any size from PostgreSQL. Must run in a transaction that sees one snapshot. */
export class WideReader {
  readonly #query: Query;
  readonly #chain: number;

  constructor(query: Query, chain: number) {
    this.#query = query;
    this.#chain = chain;
  }

  /** Returns the state of a range of blocks. Throws BlockReplacedError if the block of the cursor was replaced. */
  async read(query: WideQuery): Promise<WideState> {
    const { order, cursor, toBlock, maxMissing, maxBlocks } = query;
    const range = { fromBlock: query.fromBlock ?? (await this.#lowest(toBlock)), toBlock };
    if (cursor?.blockHash !== undefined) await this.#checkPlace(cursor);
    const ahead = aheadOf(range, cursor, order);
    const missing =
      maxMissing === undefined ? [] : await this.#missing(ahead, { order, max: maxMissing + 1 });
    const isCut = missing.length > (maxMissing ?? 0);
    if (isCut) missing.pop();
    const last = missing.at(-1);
    const reported =
      !isCut || last === undefined ? undefined : order === 'asc' ? last.toBlock : last.fromBlock;
    const from = cursor === undefined ? range : upTo(range, cursor.blockNumber, opposite(order));
    const bounded =
      order === 'asc'
        ? upTo(from, from.fromBlock + maxBlocks - 1, order)
        : upTo(from, from.toBlock - maxBlocks + 1, order);
    const within = reported === undefined || query.isWhole ? bounded : upTo(bounded, reported, order);
    const isBounded = within.fromBlock !== from.fromBlock || within.toBlock !== from.toBlock;
    const { fromBlock: first, toBlock: end } = within;
    return {
      chain: this.#chain,
      range,
      missing: (order === 'asc' ? missing : missing.reverse())
        .map((gap) => (isBounded ? upTo(gap, order === 'asc' ? end : first, order) : gap))
        .filter((gap) => !isEmpty(gap)),
      missingUpTo: isBounded ? (order === 'asc' ? end : first) : reported,
      searchRange: within,
      attempts: isEmpty(within)
        ? attemptsOf([])
        : attemptsOf(await this.#query(UNUSUAL, [this.#chain, first, end])),
      postings: isEmpty(within) ? new Map() : await this.#postings(within),
    };
  }

  async #lowest(toBlock: number): Promise<number> {
    const [row] = await this.#query<{ lowest: number | null }>(
      'SELECT lower(present) AS lowest FROM floodgate_traces.chains WHERE id = $1',
      [this.#chain],
    );
    return Math.min(row?.lowest ?? toBlock, toBlock);
  }

  async #checkPlace({ blockNumber, blockHash }: HistoryPosition): Promise<void> {
    const [row] = await this.#query<{ hash: Buffer }>(
      'SELECT hash FROM floodgate_traces.blocks WHERE chain = $1 AND number = $2 AND is_canonical',
      [this.#chain, blockNumber],
    );
    if (row === undefined || hex(row.hash) !== blockHash) throw new BlockReplacedError(blockNumber);
  }

  async #missing(
    { fromBlock, toBlock }: BlockRange,
    { order, max }: { readonly order: Order; readonly max: number },
  ): Promise<BlockRange[]> {
    if (fromBlock > toBlock) return [];
    const rows = await this.#query<{ first: number; end: number }>(
      `SELECT lower(gap) AS first, upper(gap) AS end
        FROM floodgate_traces.chains, unnest(${RANGE} - present) AS gap
        WHERE id = $1 ORDER BY 1 ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT $4`,
      [this.#chain, fromBlock, toBlock, max],
    );
    return rows.map(({ first, end }) => ({ fromBlock: first, toBlock: end - 1 }));
  }

  /**
   * Returns the expected number of rows by segment. Sums of whole segments are stored; for partly covered segments,
   * the numbers of their blocks are added up.
   */
  async #postings({ fromBlock, toBlock }: BlockRange): Promise<Map<number, number>> {
    const first = segmentOf(fromBlock);
    const last = segmentOf(toBlock);
    const wholeFrom = fromBlock === firstBlockOf(first) ? first : first + 1;
    const wholeTo = toBlock === firstBlockOf(last + 1) - 1 ? last : last - 1;
    const rows = await this.#query<{ segment: number; postings: number }>(
      `SELECT segment, postings FROM floodgate_traces.segments WHERE chain = $1 AND segment BETWEEN $4 AND $5
      UNION ALL
      SELECT number / 1024, sum(postings)::bigint FROM floodgate_traces.blocks
        WHERE chain = $1 AND is_canonical AND number BETWEEN $2 AND $3
          AND (number < $4::bigint * 1024 OR number >= ($5::bigint + 1) * 1024) GROUP BY 1`,
      [this.#chain, fromBlock, toBlock, wholeFrom, wholeTo],
    );
    return new Map(rows.filter(({ postings }) => postings > 0).map((row) => [row.segment, row.postings]));
  }
}

const opposite = (order: Order): Order => (order === 'asc' ? 'desc' : 'asc');

/**
 * Returns the part of a range after the cursor's block, in query order. Earlier pages have reported the missing
 * blocks before that part.
 */
function aheadOf(range: BlockRange, cursor: HistoryPosition | undefined, order: Order): BlockRange {
  if (cursor === undefined) return range;
  const step = order === 'asc' ? 1 : -1;
  return upTo(range, cursor.blockNumber + step, opposite(order));
}

/** Returns the part of a range up to and including a block, in the given order. */
export const upTo = ({ fromBlock, toBlock }: BlockRange, blockNumber: number, order: Order): BlockRange =>
  order === 'asc'
    ? { fromBlock, toBlock: Math.min(toBlock, blockNumber) }
    : { fromBlock: Math.max(fromBlock, blockNumber), toBlock };

const isEmpty = ({ fromBlock, toBlock }: BlockRange): boolean => fromBlock > toBlock;
