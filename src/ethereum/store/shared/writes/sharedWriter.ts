import { IndexConflictError, type IndexedBlock, type StoredBlock, segmentOf } from '../../../traces/index.ts';
import type { ClickHouse } from '../connection/clickHouse.ts';
import { TraceStoreUnavailable, UnprovenRead } from '../connection/failures.ts';
import type { Hosts } from '../connection/hosts.ts';
import { type BlockRows, neighboursOf, readHeights } from '../reads/blocks.ts';
import { completeState, segmentRow } from '../reads/segments.ts';
import { type BlockRow, blockRows, EXACTNESS } from '../tables/blockRow.ts';
import { type BlockWrite, chunkRows, exactnessOf, newWrite, partyRows, writeOf } from '../tables/rows.ts';
import { columnsOf, type TableName } from '../tables/tables.ts';

const HEIGHTS_PER_STEP = 1_024;

export interface WriteOptions {
  /** Writes blocks that are present again, with a higher version. Their neighbours are not checked. */
  readonly again?: boolean;
}

/** Adds final blocks of a chain to the shared index. Several writers may run, also for the same blocks. */
export class SharedWriter {
  readonly #hosts: Hosts;
  readonly #chain: bigint;

  constructor(hosts: Hosts, chain: bigint) {
    this.#hosts = hosts;
    this.#chain = chain;
  }

  /**
   * Writes the blocks that are missing, or present only in a less exact form. Returns how many it has written. Each
   * attempt has new random numbers. Throws IndexConflictError if a block differs from the index, or does not fit to a
   * neighbour.
   */
  write(blocks: readonly IndexedBlock[], options: WriteOptions = {}): Promise<number> {
    return this.#hosts.run((host) => this.#write(host, blocks, options));
  }

  /** Marks all heights above `lastBlock` as missing, from the highest down. Returns the number of removed blocks. */
  async rewind(lastBlock: number, head: number): Promise<number> {
    let removed = 0;
    for (let end = head; end > lastBlock; end -= HEIGHTS_PER_STEP) {
      const first = Math.max(lastBlock + 1, end - HEIGHTS_PER_STEP + 1);
      const heights = Array.from({ length: end - first + 1 }, (_, i) => first + i);
      removed += await this.#hosts.run((host) => this.#mark(host, heights));
    }
    return removed;
  }

  /** Marks heights as missing, also those whose row is damaged. Returns the number of removed blocks. */
  async #mark(host: ClickHouse, heights: readonly number[]): Promise<number> {
    const held = await readHeights({ host, chain: this.#chain }, heights);
    const present = [...held.values()].filter(({ exactness }) => exactness !== EXACTNESS.missing);
    const marks = present.map(({ unavailable: _, ...row }) => ({
      ...row,
      version: row.version + 1,
      exactness: EXACTNESS.missing,
      write: newWrite(),
      traceCount: 0,
      chunks: 0,
      parties: 0,
    }));
    await this.#insert(host, 'trace_blocks', blockRows(this.#chain, marks));
    return marks.length;
  }

  async #write(
    host: ClickHouse,
    blocks: readonly IndexedBlock[],
    { again = false }: WriteOptions,
  ): Promise<number> {
    const near = blocks.flatMap(({ block }) => neighboursOf(block.number));
    const held = await readHeights({ host, chain: this.#chain }, near);
    const writes = newBlocks(blocks, held, again).map((block) =>
      writeOf(block, versionAfter(held.get(block.block.number), again)),
    );
    if (writes.length === 0) return 0;
    await this.#insert(host, 'trace_chunks', chunkRows(this.#chain, writes));
    await this.#insert(host, 'trace_parties', partyRows(this.#chain, writes));
    await this.#count(host, writes);
    const rows = writes.map(({ row }) => row);
    await this.#insert(host, 'trace_blocks', blockRows(this.#chain, rows));
    await this.#completeSegments(host, writes);
    return writes.length;
  }

  async #insert(host: ClickHouse, table: TableName, rows: Buffer): Promise<void> {
    if (rows.length > 0) await host.insert(table, columnsOf(table), rows);
  }

  /** Counts the inserted rows. Throws UnprovenRead if there are too few or too many. */
  async #count(host: ClickHouse, writes: readonly BlockWrite[]): Promise<void> {
    const count = (table: TableName): string =>
      `SELECT groupArray((write, n)) AS counts FROM (SELECT number, write, count() AS n FROM ${table}
        WHERE chain = {chain:UInt64} AND number IN {numbers:Array(UInt32)} GROUP BY number, write)`;
    const parameters = { chain: String(this.#chain), numbers: writes.map(({ row }) => row.number) };
    const from = `FROM (${count('trace_chunks')}) AS c CROSS JOIN (${count('trace_parties')}) AS p`;
    await host.row({ columns: 'c.counts, p.counts', from, parameters }, (row) => {
      const read = (): Map<bigint, number> =>
        new Map(row.array(() => [row.bigUint64(), row.uint64()] as const));
      const [chunks, parties] = [read(), read()];
      for (const { row: block } of writes) {
        const { number, write } = block;
        if ((chunks.get(write) ?? 0) !== block.chunks || (parties.get(write) ?? 0) !== block.parties)
          throw new UnprovenRead(`ClickHouse: block ${number} has a wrong number of rows after the insert`);
      }
    });
  }

  /** Adds the states of segments that are complete now. They are a cache, so a failure is no failure of the write. */
  async #completeSegments(host: ClickHouse, writes: readonly BlockWrite[]): Promise<void> {
    const segments = [...new Set(writes.map(({ row }) => segmentOf(row.number)))];
    try {
      for (const segment of segments) {
        const state = await completeState({ host, chain: this.#chain }, segment);
        if (state !== undefined)
          await this.#insert(host, 'trace_segments', segmentRow(this.#chain, segment, state));
      }
    } catch (error) {
      if (!(error instanceof TraceStoreUnavailable)) throw error;
    }
  }
}

/** A block that replaces a removed or damaged one has a higher version, because a damaged row may seem exact. */
const versionAfter = (held: BlockRow | undefined, again: boolean): number =>
  held === undefined ? 0 : held.version + Number(again || held.exactness <= EXACTNESS.missing);

/** Returns the blocks to write. Throws IndexConflictError unless adjacent blocks are parent and child. */
function newBlocks(blocks: readonly IndexedBlock[], held: BlockRows, again: boolean): IndexedBlock[] {
  if (again) return [...blocks];
  const present = [...held].filter(([, row]) => row.exactness > EXACTNESS.missing);
  const chain = new Map<number, StoredBlock>(present);
  return blocks.filter((indexed) => {
    const { block } = indexed;
    const { number, hash } = block;
    const there = chain.get(number);
    if (there !== undefined && there.hash !== hash)
      throw new IndexConflictError(`block ${number} is ${there.hash} in the shared index, not ${hash}`);
    chain.set(number, block);
    for (const [parent, child] of [
      [chain.get(number - 1), block],
      [block, chain.get(number + 1)],
    ])
      if (parent !== undefined && child !== undefined && child.parentHash !== parent.hash)
        throw new IndexConflictError(
          `the shared index: block ${child.number} has parent ${child.parentHash}, but block ${parent.number} is ${parent.hash}`,
        );
    return exactnessOf(indexed) > (held.get(number)?.exactness ?? EXACTNESS.missing);
  });
}
