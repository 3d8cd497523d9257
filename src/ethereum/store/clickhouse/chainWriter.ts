import {
  type ChainIdentity,
  type IndexChange,
  IndexConflictError,
  type IndexedBlock,
  segmentOf,
  WrongChainError,
} from '../../traces/index.ts';
import type { Database, Query } from './database.ts';
import { LeaseHeldElsewhere } from './failures.ts';
import { bytesOf, hex } from './hashes.ts';
import { type Attempt, countPostings } from './rows.ts';

/** Rows in ClickHouse that are of no block of the chain. */
export interface DeadBlock {
  readonly number: number;
  readonly attempt: number;
}

interface ChainRow {
  readonly head: number | null;
  readonly finalized: number | null;
  readonly lease_token: number;
}

/** Dead blocks that are cleared in one go. */
const MAX_DEAD = 500;

/** Changes what stands in PostgreSQL, in transactions that compare the lease's token first. */
export class ChainWriter {
  readonly #database: Database;
  readonly #id: number;

  constructor(database: Database, id: number) {
    this.#database = database;
    this.#id = id;
  }

  /** Throws WrongChainError where the index holds another. */
  async bind(identity: ChainIdentity): Promise<void> {
    await this.#database.transaction('', async (query) => {
      const [row] = await query<{ chain_id: number | null; genesis: Buffer | null }>(
        'SELECT chain_id, genesis FROM floodgate_traces.chains WHERE id = $1 FOR UPDATE',
        [this.#id],
      );
      const { chainId, genesisHash } = identity;
      if (row?.chain_id == null || row.genesis === null)
        return query('UPDATE floodgate_traces.chains SET chain_id = $2, genesis = $3 WHERE id = $1', [
          ...[this.#id, chainId, bytesOf(genesisHash)],
        ]);
      const held = { chainId: row.chain_id, genesisHash: hex(row.genesis) };
      if (held.chainId !== chainId || held.genesisHash !== genesisHash)
        throw new WrongChainError(held, identity);
      return [];
    });
  }

  /** Checks a change, and notes what will be written for it before it is. Throws IndexConflictError where it does not fit. */
  plan(token: number, change: IndexChange): Promise<Attempt[]> {
    return this.#holding(token, async (query, { finalized }) => {
      const { undoFrom = Number.POSITIVE_INFINITY, undoFinal = false, blocks } = change;
      if (finalized !== null && undoFrom <= finalized && !undoFinal)
        throw new IndexConflictError(
          `block ${undoFrom} cannot be undone: blocks up to ${finalized} are final`,
        );
      const added = newBlocks(blocks, await this.#neighbours(query, blocks, undoFrom));
      if (added.length === 0) return [];
      const postings = added.map(countPostings);
      const rows = await query<{ number: number; attempt: number }>(NOTE_ATTEMPTS, [
        this.#id,
        added.map(({ block }) => block.number),
        added.map(({ block }) => bytesOf(block.hash)),
        added.map(({ block }) => bytesOf(block.parentHash)),
        added.map(({ block }) => block.timestamp),
        added.map(({ block }) => block.traceCount),
        postings,
      ]);
      const attempts = new Map(rows.map(({ number, attempt }) => [number, attempt]));
      return added.map((block, i) => ({
        ...{ block, attempt: attempts.get(block.block.number) ?? 0, postings: postings[i] ?? 0 },
      }));
    });
  }

  /** What was written counts from now on, and what was undone does not, at once. */
  async commit(token: number, change: IndexChange, written: readonly Attempt[]): Promise<void> {
    const { undoFrom, finalizedNumber } = change;
    const numbers = written.map(({ block }) => block.block.number);
    await this.#holding(token, async (query, { head, finalized }) => {
      if (undoFrom !== undefined)
        await query(
          'UPDATE floodgate_traces.blocks SET is_canonical = false WHERE chain = $1 AND number >= $2 AND is_canonical',
          [this.#id, undoFrom],
        );
      await query(COUNT_ATTEMPTS, [this.#id, numbers, written.map(({ attempt }) => attempt)]);
      await query(SET_PRESENT, [this.#id, undoFrom ?? null, numbers]);
      const segments = [...new Set(numbers.map(segmentOf)), ...segmentsFrom(undoFrom, head)];
      await query(CLEAR_SEGMENTS, [this.#id, segments]);
      await query(SUM_SEGMENTS, [this.#id, segments]);
      await query('UPDATE floodgate_traces.chains SET finalized = $2 WHERE id = $1', [
        ...[this.#id, finalAfter(finalized, undoFrom, finalizedNumber)],
      ]);
    });
  }

  /** Blocks up to a number that have rows which nothing counts any more. */
  dead(upTo: number): Promise<DeadBlock[]> {
    return this.#database.query<DeadBlock>(
      `SELECT number, attempt FROM floodgate_traces.blocks
        WHERE chain = $1 AND NOT is_canonical AND NOT is_cleared AND number <= $2 ORDER BY number LIMIT $3`,
      [this.#id, upTo, MAX_DEAD],
    );
  }

  /** They are remembered, so that their attempts are never used again: a writer that was stopped may still send rows of them. */
  async cleared(dead: readonly DeadBlock[]): Promise<void> {
    await this.#database.query(
      `UPDATE floodgate_traces.blocks b SET is_cleared = true
        FROM unnest($2::bigint[], $3::integer[]) AS d (number, attempt)
        WHERE b.chain = $1 AND b.number = d.number AND b.attempt = d.attempt AND NOT b.is_canonical`,
      [this.#id, dead.map(({ number }) => number), dead.map(({ attempt }) => attempt)],
    );
  }

  #holding<T>(token: number, run: (query: Query, row: ChainRow) => Promise<T>): Promise<T> {
    return this.#database.transaction('', async (query) => {
      const [row] = await query<ChainRow>(
        `SELECT upper(present) - 1 AS head, finalized, lease_token
          FROM floodgate_traces.chains WHERE id = $1 FOR UPDATE`,
        [this.#id],
      );
      if (row === undefined || row.lease_token !== token)
        throw new LeaseHeldElsewhere('another instance has taken over writing the index');
      return run(query, row);
    });
  }

  /** What stands at the blocks of a change and beside them once it has undone what it does. */
  async #neighbours(query: Query, blocks: readonly IndexedBlock[], undoFrom: number): Promise<Held> {
    const near = blocks.flatMap(({ block: { number } }) => [number - 1, number, number + 1]);
    const rows = await query<{ number: number; hash: Buffer; parent: Buffer }>(
      'SELECT number, hash, parent FROM floodgate_traces.blocks WHERE chain = $1 AND is_canonical AND number = ANY($2)',
      [this.#id, [...new Set(near)]],
    );
    const held = rows.filter(({ number }) => number < undoFrom);
    return new Map(held.map((row) => [row.number, { hash: hex(row.hash), parentHash: hex(row.parent) }]));
  }
}

type Held = Map<number, { readonly hash: string; readonly parentHash: string }>;

/** The blocks that are not there yet. Neighbouring blocks of the index are always parent and child: then any range of it is of one chain. */
function newBlocks(blocks: readonly IndexedBlock[], held: Held): IndexedBlock[] {
  const added: IndexedBlock[] = [];
  let last = -1;
  for (const indexed of blocks) {
    const { number, hash, parentHash } = indexed.block;
    const there = held.get(number);
    if (there?.hash === hash) continue;
    if (number <= last)
      throw new IndexConflictError(`block ${number} comes after block ${last} in one change`);
    last = number;
    if (there !== undefined)
      throw new IndexConflictError(`block ${number} is ${there.hash} in the index, not ${hash}`);
    const parent = held.get(number - 1);
    if (parent !== undefined && parent.hash !== parentHash)
      throw new IndexConflictError(
        `block ${number} has parent ${parentHash}, but block ${number - 1} of the index is ${parent.hash}`,
      );
    const child = held.get(number + 1);
    if (child !== undefined && child.parentHash !== hash)
      throw new IndexConflictError(
        `block ${number + 1} of the index has parent ${child.parentHash}, which is not block ${number}, ${hash}`,
      );
    held.set(number, { hash, parentHash });
    added.push(indexed);
  }
  return added;
}

/** The highest final block after a change; it goes back only with the blocks. */
function finalAfter(
  finalized: number | null,
  undoFrom = Number.POSITIVE_INFINITY,
  finalizedNumber = -1,
): number | null {
  const left = finalized !== null && undoFrom <= finalized ? undoFrom - 1 : (finalized ?? -1);
  const after = Math.max(left, finalizedNumber);
  return after < 0 ? null : after;
}

const segmentsFrom = (undoFrom: number | undefined, head: number | null): number[] => {
  if (undoFrom === undefined || head === null) return [];
  const first = segmentOf(undoFrom);
  return Array.from({ length: Math.max(0, segmentOf(head) - first + 1) }, (_, i) => first + i);
};

const NOTE_ATTEMPTS = `INSERT INTO floodgate_traces.blocks (chain, number, attempt, hash, parent, timestamp, traces, postings)
  SELECT $1, n.number,
    coalesce((SELECT max(attempt) + 1 FROM floodgate_traces.blocks b WHERE b.chain = $1 AND b.number = n.number), 0),
    n.hash, n.parent, n.timestamp, n.traces, n.postings
  FROM unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::bigint[], $6::integer[], $7::integer[])
    AS n (number, hash, parent, timestamp, traces, postings)
  RETURNING number, attempt`;
const COUNT_ATTEMPTS = `UPDATE floodgate_traces.blocks b SET is_canonical = true
  FROM unnest($2::bigint[], $3::integer[]) AS w (number, attempt)
  WHERE b.chain = $1 AND b.number = w.number AND b.attempt = w.attempt`;
const SET_PRESENT = `UPDATE floodgate_traces.chains SET present = present
    - CASE WHEN $2::bigint IS NULL THEN '{}'::int8multirange ELSE int8multirange(int8range($2, NULL)) END
    + coalesce((SELECT range_agg(int8range(n, n, '[]')) FROM unnest($3::bigint[]) AS n), '{}'::int8multirange)
  WHERE id = $1`;
const CLEAR_SEGMENTS =
  'DELETE FROM floodgate_traces.segments WHERE chain = $1 AND segment = ANY($2::bigint[])';
const SUM_SEGMENTS = `INSERT INTO floodgate_traces.segments (chain, segment, postings)
  SELECT $1, s, sum(b.postings) FROM unnest($2::bigint[]) AS s
  JOIN floodgate_traces.blocks b ON b.chain = $1 AND b.is_canonical AND b.number >= s * 1024 AND b.number < (s + 1) * 1024
  GROUP BY s`;
