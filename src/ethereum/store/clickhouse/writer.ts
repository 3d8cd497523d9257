import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../../platform/logging/index.ts';
import { SerialQueue } from '../../../platform/serialQueue/index.ts';
import type { ChainIdentity, IndexChange } from '../../traces/index.ts';
import type { ChainReader } from './chainReader.ts';
import type { ChainWriter } from './chainWriter.ts';
import type { ClickHouse } from './clickHouse.ts';
import { IncompleteReplica } from './failures.ts';
import type { Lease } from './lease.ts';
import type { Rows } from './native.ts';
import { LOOK_MS, MAX_WAIT_MS, OtherWriter } from './otherWriter.ts';
import { type Attempt, chunkRows, postingRows } from './rows.ts';
import { ADDRESS_COLUMNS, CHUNK_COLUMNS, type Tables } from './tables.ts';

/** What takes the changes of an index. */
export interface ChangeTarget {
  /** Throws WrongChainError where the index holds another. */
  bind(identity: ChainIdentity): Promise<void>;
  /** Resolves when the change is there. */
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
 * Writes an index that many instances may want to write: the one that has the lease does, the others wait until it has.
 *
 * First PostgreSQL notes what will be written, each block under an attempt of its own; then its rows go to ClickHouse and are counted
 * there; then one transaction says that they count. Whatever breaks off in between leaves rows that nobody reads.
 */
export class IndexWriter implements ChangeTarget {
  readonly #parts: WriterParts;
  readonly #other: OtherWriter;
  /** Changes are worked out one after the other, each from the state before. */
  readonly #changes = new SerialQueue();
  #hadLease: boolean | undefined;
  #isClosing = false;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#other = new OtherWriter(parts.reader);
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
    await this.#parts.lease.giveBack();
  }

  async #apply(change: IndexChange): Promise<void> {
    const deadlineMs = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const token = await this.#parts.lease.take(this.#parts.reader.id);
      this.#tell(token !== undefined);
      if (token !== undefined) return this.#write(token, change);
      if (await this.#other.hasDone(change)) return;
      const isOver = performance.now() > deadlineMs || this.#isClosing;
      if (isOver || (await this.#other.isPast(change))) throw this.#other.notWritten(change);
      await pause(LOOK_MS);
    }
  }

  async #write(token: number, change: IndexChange): Promise<void> {
    const { chain } = this.#parts;
    // First of all: until the change is committed its own rows are of no block of the chain either.
    if (change.finalizedNumber !== undefined) await this.#clearDead(change.finalizedNumber);
    const attempts = await chain.plan(token, change);
    if (attempts.length > 0) await this.#insert(attempts);
    await chain.commit(token, change, attempts);
  }

  async #insert(attempts: readonly Attempt[]): Promise<void> {
    const { clickHouse, tables, reader } = this.#parts;
    const token = attempts.map(({ block, attempt }) => `${block.block.number}:${attempt}`).join();
    const insert = (table: string, columns: string, rows: Rows): Promise<void> =>
      rows.count === 0
        ? Promise.resolve()
        : clickHouse.insert(table, columns, { rows, token: `${reader.id} ${token}` });
    await insert(tables.chunks, CHUNK_COLUMNS, chunkRows(reader.id, attempts));
    await insert(tables.byAddress, ADDRESS_COLUMNS, postingRows(reader.id, attempts));
    await this.#count(attempts);
  }

  /** Nothing counts that is not there whole. */
  async #count(attempts: readonly Attempt[]): Promise<void> {
    const { clickHouse, tables, reader } = this.#parts;
    // All attempts that the blocks have: one that is picked out costs more than those few.
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
        throw new IncompleteReplica(
          `ClickHouse: of block ${number} not all rows are there after they were written`,
        );
      }
    });
  }

  /** Rows of blocks that were replaced, or never came to count: nobody reads them, and they take room. */
  async #clearDead(upTo: number): Promise<void> {
    const { chain, clickHouse, tables, reader } = this.#parts;
    for (let dead = await chain.dead(upTo); dead.length > 0; dead = await chain.dead(upTo)) {
      const parameters = {
        chain: reader.id,
        numbers: dead.map(({ number }) => number),
        attempts: dead.map(({ attempt }) => attempt),
      };
      for (const { table } of tables.own)
        await clickHouse.command(
          `ALTER TABLE ${table}${tables.onCluster} DELETE WHERE chain = {chain:UInt32}
            AND (number, attempt) IN arrayZip({numbers:Array(UInt32)}, {attempts:Array(UInt16)})`,
          parameters,
        );
      await chain.cleared(dead);
    }
  }

  #tell(hasLease: boolean): void {
    if (hasLease === this.#hadLease) return;
    this.#hadLease = hasLease;
    const { log, reader } = this.#parts;
    if (hasLease) log.info({ network: reader.network }, 'this instance writes the index of traces');
    else log.info({ network: reader.network }, 'another instance writes the index of traces');
  }
}
