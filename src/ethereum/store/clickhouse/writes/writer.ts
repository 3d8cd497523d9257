import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../../../platform/logging/index.ts';
import { SerialQueue } from '../../../../platform/serialQueue/index.ts';
import type { ChainIdentity, IndexChange } from '../../../traces/index.ts';
import type { ClickHouse } from '../connection/clickHouse.ts';
import { IncompleteReplica } from '../connection/failures.ts';
import type { Rows } from '../connection/native.ts';
import type { ChainReader } from '../reads/chainReader.ts';
import { type Attempt, chunkRows, postingRows } from '../tables/rows.ts';
import { ADDRESS_COLUMNS, CHUNK_COLUMNS, type Tables } from '../tables/tables.ts';
import type { ChainWriter } from './chainWriter.ts';
import type { Lease } from './lease.ts';
import { MAX_WAIT_MS, POLL_MS, WriterProgress } from './writerProgress.ts';

export interface ChangeTarget {
  /** Binds the index to a chain. Throws WrongChainError if the index already belongs to another chain. */
  bind(identity: ChainIdentity): Promise<void>;
  /** Applies a change. Resolves when it is stored. */
  apply(change: IndexChange): Promise<void>;
  close(): Promise<void>;
}

export interface WriterParts {
  readonly clickHouse: ClickHouse;
  readonly tables: Tables;
  readonly reader: ChainReader;
  readonly chain: ChainWriter;
  readonly lease: Lease;
  readonly log: Log;
}

/**
 * Writes an index that several instances share. The instance with the lease writes; each other instance waits until
 * the change is made.
 *
 * A change has three steps. PostgreSQL records the blocks, each with a new attempt number. The rows are inserted into
 * ClickHouse and counted. One transaction makes the blocks canonical. Rows of an interrupted change are never read.
 */
export class IndexWriter implements ChangeTarget {
  readonly #parts: WriterParts;
  readonly #other: WriterProgress;
  /** Runs changes one at a time, because each change depends on the state that the previous one left. */
  readonly #changes = new SerialQueue();
  #hadLease: boolean | undefined;
  #isClosing = false;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#other = new WriterProgress(parts.reader);
  }

  bind(identity: ChainIdentity): Promise<void> {
    return this.#changes.run(() => this.#parts.chain.bind(identity));
  }

  apply(change: IndexChange): Promise<void> {
    return this.#changes.run(() => this.#apply(change));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#changes.idle();
    await this.#parts.lease.release();
  }

  async #apply(change: IndexChange): Promise<void> {
    const deadlineMs = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const token = await this.#parts.lease.acquire(this.#parts.reader.id);
      this.#logLeaseChange(token !== undefined);
      if (token !== undefined) return this.#write(token, change);
      if (await this.#other.hasApplied(change)) return;
      const isFinished = performance.now() > deadlineMs || this.#isClosing;
      if (isFinished || (await this.#other.hasSkipped(change))) throw this.#other.notWritten(change);
      await pause(POLL_MS);
    }
  }

  async #write(token: number, change: IndexChange): Promise<void> {
    const { chain } = this.#parts;
    // The deletion must run before the inserts: until the commit, the rows of this change are not canonical, so they
    // would be deleted too.
    if (change.finalizedNumber !== undefined) await this.#clearDead(change.finalizedNumber);
    const attempts = await chain.plan(token, change);
    if (attempts.length > 0) await this.#insert(attempts);
    await chain.commit(token, change, attempts);
  }

  async #insert(attempts: readonly Attempt[]): Promise<void> {
    const { clickHouse, tables, reader } = this.#parts;
    // If PostgreSQL loses its newest commit, another block may get the same block number and attempt number. The hash
    // makes the tokens of the two inserts different, so that ClickHouse does not ignore the second one.
    const token = attempts
      .map(({ block: { block }, attempt }) => `${block.number}:${attempt}:${block.hash}`)
      .join();
    const insert = (table: string, columns: string, rows: Rows): Promise<void> =>
      rows.count === 0
        ? Promise.resolve()
        : clickHouse.insert(table, columns, { rows, token: `${reader.id} ${token}` });
    await insert(tables.chunks, CHUNK_COLUMNS, chunkRows(reader.id, attempts));
    await insert(tables.byAddress, ADDRESS_COLUMNS, postingRows(reader.id, attempts));
    await this.#count(attempts);
  }

  async #count(attempts: readonly Attempt[]): Promise<void> {
    const { clickHouse, tables, reader } = this.#parts;
    // Counts the rows of all attempts at these blocks. A condition on the attempt would cost more than reading the
    // rows of the few other attempts.
    const count = (table: string): string =>
      `SELECT groupArray((number, attempt, n)) AS counts FROM (SELECT number, attempt, count() AS n FROM ${table}
        WHERE chain = {chain:UInt32} AND number IN {numbers:Array(UInt32)} GROUP BY number, attempt)`;
    const parameters = { chain: reader.id, numbers: attempts.map(({ block }) => block.block.number) };
    const from = `FROM (${count(tables.chunks)}) AS c CROSS JOIN (${count(tables.byAddress)}) AS a`;
    await clickHouse.row({ columns: 'c.counts, a.counts', from, parameters }, 0, (row) => {
      const read = (): Map<string, number> =>
        new Map(row.array((): [string, number] => [`${row.uint32()} ${row.uint16()}`, row.uint64()]));
      const [chunks, rows] = [read(), read()];
      for (const { block, attempt, postings } of attempts) {
        const { number } = block.block;
        const key = `${number} ${attempt}`;
        if ((chunks.get(key) ?? 0) === block.chunks.length && (rows.get(key) ?? 0) === postings) continue;
        throw new IncompleteReplica(`ClickHouse: block ${number} does not have all rows after the insert`);
      }
    });
  }

  /** Deletes rows of attempts that were replaced or never became canonical. No query reads them. */
  async #clearDead(upTo: number): Promise<void> {
    const { chain, clickHouse, tables, reader } = this.#parts;
    for (let dead = await chain.dead(upTo); dead.length > 0; dead = await chain.dead(upTo)) {
      const parameters = {
        chain: reader.id,
        numbers: dead.map(({ number }) => number),
        attempts: dead.map(({ attempt }) => attempt),
      };
      for (const { table } of tables.localTables)
        await clickHouse.command(
          `ALTER TABLE ${table}${tables.onCluster} DELETE WHERE chain = {chain:UInt32}
            AND (number, attempt) IN arrayZip({numbers:Array(UInt32)}, {attempts:Array(UInt16)})`,
          parameters,
        );
      await chain.cleared(dead);
    }
  }

  #logLeaseChange(hasLease: boolean): void {
    if (hasLease === this.#hadLease) return;
    this.#hadLease = hasLease;
    const { log, reader } = this.#parts;
    if (hasLease) log.info({ network: reader.network }, 'this instance writes the trace index');
    else log.info({ network: reader.network }, 'another instance writes the trace index');
  }
}
