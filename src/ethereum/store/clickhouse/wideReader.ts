import {
  type BlockRange,
  BlockReplacedError,
  firstBlockOf,
  type HistoryPlace,
  type Order,
  segmentOf,
} from '../../traces/index.ts';
import type { Query } from './database.ts';
import { hex } from './hashes.ts';
import { type Attempts, attemptsOf, UNUSUAL } from './span.ts';

/** In SQL: the blocks from $2 to $3. */
export const RANGE = `int8multirange(int8range($2, $3, '[]'))`;

/** What is known of a wide range: how many rows there must be by segment, and which blocks are missing. */
export interface WideState {
  /** Of the index, random: rows of another one are not seen. */
  readonly chain: number;
  /** What was asked for, with its bounds settled. */
  readonly range: BlockRange;
  readonly missing: readonly BlockRange[];
  /** Where the missing blocks are too many to be told, the last block that they are told for. */
  readonly toldUpTo: number | undefined;
  /** What ClickHouse is asked for: of `range`, behind the place and as far as missing blocks are told. */
  readonly within: BlockRange;
  readonly attempts: Attempts;
  /** By segment, of `within`. */
  readonly postings: ReadonlyMap<number, number>;
}

export interface WideQuery {
  readonly fromBlock: number | undefined;
  readonly toBlock: number;
  readonly order: Order;
  readonly behind: HistoryPlace | undefined;
  /** Missing ranges that are told; left undefined, none are looked for. */
  readonly maxMissing: number | undefined;
  /** Blocks that are looked at, at most. */
  readonly maxBlocks: number;
  /** Whether all of the range is looked at though not all that is missing of it can be told. */
  readonly isWhole?: true;
}

/** Reads what PostgreSQL has of a wide range, by queries that see one moment. */
export class WideReader {
  readonly #query: Query;
  readonly #chain: number;

  constructor(query: Query, chain: number) {
    this.#query = query;
    this.#chain = chain;
  }

  /** Throws BlockReplacedError where the place is in a block that is not there any more. */
  async read(query: WideQuery): Promise<WideState> {
    const { order, behind, toBlock, maxMissing, maxBlocks } = query;
    const range = { fromBlock: query.fromBlock ?? (await this.#lowest(toBlock)), toBlock };
    if (behind?.blockHash !== undefined) await this.#checkPlace(behind);
    const ahead = aheadOf(range, behind, order);
    const missing =
      maxMissing === undefined ? [] : await this.#missing(ahead, { order, max: maxMissing + 1 });
    const isCut = missing.length > (maxMissing ?? 0);
    if (isCut) missing.pop();
    const last = missing.at(-1);
    const told = !isCut || last === undefined ? undefined : order === 'asc' ? last.toBlock : last.fromBlock;
    const from = behind === undefined ? range : upTo(range, behind.blockNumber, opposite(order));
    const bounded =
      order === 'asc'
        ? upTo(from, from.fromBlock + maxBlocks - 1, order)
        : upTo(from, from.toBlock - maxBlocks + 1, order);
    const within = told === undefined || query.isWhole ? bounded : upTo(bounded, told, order);
    const isBounded = within.fromBlock !== from.fromBlock || within.toBlock !== from.toBlock;
    const { fromBlock: first, toBlock: end } = within;
    return {
      chain: this.#chain,
      range,
      missing: (order === 'asc' ? missing : missing.reverse())
        .map((gap) => (isBounded ? upTo(gap, order === 'asc' ? end : first, order) : gap))
        .filter((gap) => !isEmpty(gap)),
      toldUpTo: isBounded ? (order === 'asc' ? end : first) : told,
      within,
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

  async #checkPlace({ blockNumber, blockHash }: HistoryPlace): Promise<void> {
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
    const rows = await this.#query<{ first: number; behind: number }>(
      `SELECT lower(gap) AS first, upper(gap) AS behind
        FROM floodgate_traces.chains, unnest(${RANGE} - present) AS gap
        WHERE id = $1 ORDER BY 1 ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT $4`,
      [this.#chain, fromBlock, toBlock, max],
    );
    return rows.map(({ first, behind }) => ({ fromBlock: first, toBlock: behind - 1 }));
  }

  /** Whole segments are summed up already; of those at the ends the blocks are. */
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

/** The part of a range behind a block in an order, without that block: that of its place was gone over. */
function aheadOf(range: BlockRange, behind: HistoryPlace | undefined, order: Order): BlockRange {
  if (behind === undefined) return range;
  const step = order === 'asc' ? 1 : -1;
  return upTo(range, behind.blockNumber + step, opposite(order));
}

/** The part of a range up to a block in an order, that block included. */
export const upTo = ({ fromBlock, toBlock }: BlockRange, blockNumber: number, order: Order): BlockRange =>
  order === 'asc'
    ? { fromBlock, toBlock: Math.min(toBlock, blockNumber) }
    : { fromBlock: Math.max(fromBlock, blockNumber), toBlock };

const isEmpty = ({ fromBlock, toBlock }: BlockRange): boolean => fromBlock > toBlock;
