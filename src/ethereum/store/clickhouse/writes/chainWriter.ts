import {
  type ChainIdentity,
  type IndexChange,
  IndexConflictError,
  type IndexedBlock,
  segmentOf,
  WrongChainError,
} from '../../../traces/index.ts';
import type { Database, Query } from '../connection/database.ts';
import { LeaseHeldElsewhere } from '../connection/failures.ts';
import { bytesOf, hex } from '../tables/hashes.ts';
import { type Attempt, countPostings } from '../tables/rows.ts';

/**
 * An attempt to write a block (`Attempt` in rows.ts) that is not canonical, and whose rows were not yet deleted from
 * ClickHouse.
 */
export interface DeadBlock {
  readonly number: number;
  readonly attempt: number;
}

interface ChainRow {
  readonly head: number | null;
  readonly finalized: number | null;
  readonly lease_token: number;
}

/** Maximum number of attempts whose rows are deleted at once. */
const MAX_DEAD = 500;

/**
 * Changes the state of an index in PostgreSQL. `plan` and `commit` first check that this instance still holds the
 * write lease.
 */
export class ChainWriter {
  readonly #database: Database;
  readonly #id: number;

  constructor(database: Database, id: number) {
    this.#database = database;
    this.#id = id;
  }

  /** Binds the index to a chain. Throws WrongChainError if the index already belongs to another chain. */
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

  /**
   * Validates a change, and records an attempt for each of its new blocks before any row is written. Throws
   * IndexConflictError if the change does not fit the index, LeaseHeldElsewhere if another instance has the write
   * lease.
   */
  plan(token: number, change: IndexChange): Promise<Attempt[]> {
    return this.#withLease(token, async (query, { finalized }) => {
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

  /** Makes the written blocks canonical and the undone blocks not canonical, in one transaction. */
  async commit(token: number, change: IndexChange, written: readonly Attempt[]): Promise<void> {
    const { undoFrom, finalizedNumber } = change;
    const blocks = written.map(({ block }) => block.block);
    const numbers = blocks.map(({ number }) => number);
    const traced = blocks.flatMap(({ number, unavailable }) => (unavailable === undefined ? number : []));
    const unavailable = blocks.filter((block) => block.unavailable !== undefined);
    await this.#withLease(token, async (query, { head, finalized }) => {
      if (undoFrom !== undefined) {
        await query('DELETE FROM floodgate_traces.unavailable WHERE chain = $1 AND number >= $2', [
          ...[this.#id, undoFrom],
        ]);
        await query(
          'UPDATE floodgate_traces.blocks SET is_canonical = false WHERE chain = $1 AND number >= $2 AND is_canonical',
          [this.#id, undoFrom],
        );
      }
      await query(REPLACE_UNAVAILABLE, [this.#id, traced]);
      await query(RECORD_UNAVAILABLE, [
        this.#id,
        unavailable.map(({ number }) => number),
        unavailable.map((block) => block.unavailable),
      ]);
      await query(COUNT_ATTEMPTS, [this.#id, numbers, written.map(({ attempt }) => attempt)]);
      await query(SET_PRESENT, [this.#id, undoFrom ?? null, traced]);
      const segments = [...new Set(numbers.map(segmentOf)), ...segmentsFrom(undoFrom, head)];
      await query(CLEAR_SEGMENTS, [this.#id, segments]);
      await query(SUM_SEGMENTS, [this.#id, segments]);
      await query('UPDATE floodgate_traces.chains SET finalized = $2 WHERE id = $1', [
        ...[this.#id, finalAfter(finalized, undoFrom, finalizedNumber)],
      ]);
    });
  }

  /**
   * Returns attempts of blocks up to `upTo` that are not canonical and whose rows were not deleted yet, at most
   * MAX_DEAD.
   */
  dead(upTo: number): Promise<DeadBlock[]> {
    return this.#database.query<DeadBlock>(
      `SELECT number, attempt FROM floodgate_traces.blocks
        WHERE chain = $1 AND NOT is_canonical AND NOT is_cleared AND number <= $2 ORDER BY number LIMIT $3`,
      [this.#id, upTo, MAX_DEAD],
    );
  }

  /**
   * Records that the rows of attempts were deleted. The attempts stay in PostgreSQL, because a paused writer may
   * still insert rows with their attempt numbers.
   */
  async cleared(dead: readonly DeadBlock[]): Promise<void> {
    await this.#database.query(
      `UPDATE floodgate_traces.blocks b SET is_cleared = true
        FROM unnest($2::bigint[], $3::integer[]) AS d (number, attempt)
        WHERE b.chain = $1 AND b.number = d.number AND b.attempt = d.attempt AND NOT b.is_canonical`,
      [this.#id, dead.map(({ number }) => number), dead.map(({ attempt }) => attempt)],
    );
  }

  #withLease<T>(token: number, run: (query: Query, row: ChainRow) => Promise<T>): Promise<T> {
    return this.#database.transaction('', async (query) => {
      const [row] = await query<ChainRow>(
        `SELECT upper(present) - 1 AS head, finalized, lease_token
          FROM floodgate_traces.chains WHERE id = $1 FOR UPDATE`,
        [this.#id],
      );
      if (row === undefined || row.lease_token !== token)
        throw new LeaseHeldElsewhere('another instance now has the lease for writing the index');
      return run(query, row);
    });
  }

  /**
   * Returns the blocks of the index whose number is that of a block of the change or next to it, except undone
   * blocks.
   */
  async #neighbours(query: Query, blocks: readonly IndexedBlock[], undoFrom: number): Promise<Held> {
    const near = blocks.flatMap(({ block: { number } }) => [number - 1, number, number + 1]);
    const rows = await query<{ number: number; hash: Buffer; parent: Buffer; isUnavailable: boolean }>(
      `SELECT number, hash, parent, EXISTS (
          SELECT FROM floodgate_traces.unavailable u WHERE u.chain = b.chain AND u.number = b.number
        ) AS "isUnavailable"
        FROM floodgate_traces.blocks b WHERE chain = $1 AND is_canonical AND number = ANY($2)`,
      [this.#id, [...new Set(near)]],
    );
    const held = rows.filter(({ number }) => number < undoFrom);
    return new Map(
      held.map(({ number, hash, parent, isUnavailable }) => [
        number,
        { hash: hex(hash), parentHash: hex(parent), isUnavailable },
      ]),
    );
  }
}

interface HeldBlock {
  readonly hash: string;
  readonly parentHash: string;
  readonly isUnavailable: boolean;
}

type Held = Map<number, HeldBlock>;

/**
 * Returns the blocks that the index lacks, or has only without traces. Throws IndexConflictError unless adjacent
 * blocks are parent and child.
 */
function newBlocks(blocks: readonly IndexedBlock[], held: Held): IndexedBlock[] {
  const added: IndexedBlock[] = [];
  let last = -1;
  for (const indexed of blocks) {
    const { number, hash, parentHash, unavailable } = indexed.block;
    const there = held.get(number);
    const isSame = there?.hash === hash;
    if (isSame && (!there.isUnavailable || unavailable !== undefined)) continue;
    if (number <= last)
      throw new IndexConflictError(
        `blocks of a change must be ascending: block ${number} follows block ${last}`,
      );
    last = number;
    if (there !== undefined && !isSame)
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
    held.set(number, { hash, parentHash, isUnavailable: unavailable !== undefined });
    added.push(indexed);
  }
  return added;
}

/**
 * Returns the number of the highest final block after a change. It decreases only if the change undoes final blocks.
 */
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
/**
 * SQL: marks blocks that now have traces as no longer unavailable. Their attempts without traces are no longer
 * canonical.
 */
const REPLACE_UNAVAILABLE = `WITH replaced AS (
    DELETE FROM floodgate_traces.unavailable WHERE chain = $1 AND number = ANY($2::bigint[]) RETURNING number)
  UPDATE floodgate_traces.blocks b SET is_canonical = false
  FROM replaced r WHERE b.chain = $1 AND b.number = r.number AND b.is_canonical`;
const RECORD_UNAVAILABLE = `INSERT INTO floodgate_traces.unavailable (chain, number, reason)
  SELECT $1, n.number, n.reason FROM unnest($2::bigint[], $3::text[]) AS n (number, reason)`;
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
