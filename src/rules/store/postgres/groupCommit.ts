import { setTimeout as pause } from 'node:timers/promises';
import { type Micros, OutcomeUnknown, StoreUnavailable } from '../../index.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import { ConnectionFailed } from './failures.ts';
import { statement } from './statement.ts';
import { type Trace, Transaction } from './transaction.ts';

/** Operations that share a commit: other instances wait for as long as they take. */
const MAX_GROUP = 100;
/** Beyond what a cut transaction keeps the clock. */
const LOOK_UP_MS = 10_000;
const LOOK_UP_PAUSE_MS = 200;

interface Waiting {
  /** Resolves with how to settle the caller's promise once it is durable. Rejects where the database fails. */
  readonly execute: (transaction: Transaction) => Promise<() => void>;
  readonly fail: (error: unknown) => void;
}

export interface GroupCommitOptions {
  /** The clock that changes are stamped with; the database's, unless a test needs another. */
  readonly now?: (() => Micros) | undefined;
  /** How long the outcome of a commit is looked for. */
  readonly lookUpMs?: number | undefined;
}

/**
 * Runs write operations in transactions that are durable before anyone hears of them. Operations that arrive during one
 * commit share the next. An operation first reads and decides, then writes: what throws while it decides has written nothing and fails
 * alone. Where the database fails, all of the group fail, and nothing of it is there: a commit whose answer was lost is looked up.
 */
export class GroupCommit {
  readonly #connections: Connections;
  readonly #now: (() => Micros) | undefined;
  readonly #lookUpMs: number;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #hasFailed = false;

  constructor({ now, lookUpMs = LOOK_UP_MS }: GroupCommitOptions, connections: Connections) {
    this.#connections = connections;
    this.#lookUpMs = lookUpMs;
    this.#now = now;
  }

  /** Whether the last group could not be written though the database was there. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** It takes writes again, as somebody found out. */
  noteWritable(): void {
    this.#hasFailed = false;
  }

  run<T>(operation: (transaction: Transaction) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const execute = async (transaction: Transaction): Promise<() => void> => {
        try {
          const result = await operation(transaction);
          return () => resolve(result);
        } catch (error) {
          if (error instanceof StoreUnavailable) throw error;
          return () => reject(error);
        }
      };
      this.#waiting.push({ execute, fail: reject });
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when nothing is waiting any more. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #drain(): Promise<void> {
    // The operations of this turn of the event loop go into the first transaction together.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0, MAX_GROUP));
    this.#running = undefined;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    try {
      this.#connections.assertThere();
      // Where it fails before COMMIT, or that is known to have failed, nothing of it is there, and it is run again.
      const settle = await this.#connections.attempt((connection) => this.#transact(connection, group));
      this.#hasFailed = false;
      for (const done of settle) done();
    } catch (error) {
      this.#hasFailed = !(error instanceof ConnectionFailed);
      for (const operation of group) operation.fail(error);
    }
  }

  async #transact(connection: Connection, group: readonly Waiting[]): Promise<(() => void)[]> {
    const transaction = await Transaction.begin(connection, this.#now);
    const settle: (() => void)[] = [];
    for (const operation of group) settle.push(await operation.execute(transaction));
    const trace = await transaction.finish();
    if (trace === undefined) {
      await connection.command('ROLLBACK');
      return settle;
    }
    const isCommitted = await connection.command('COMMIT').then(
      (command) => command === 'COMMIT',
      (error) => this.#isThere(trace, error),
    );
    if (!isCommitted) throw new ConnectionFailed('it has not taken the change');
    return settle;
  }

  /** Whether a transaction whose COMMIT was not answered has been committed. Throws `OutcomeUnknown` where nobody can be asked. */
  async #isThere({ at, entry }: Trace, cause: unknown): Promise<boolean> {
    const deadlineMs = performance.now() + this.#lookUpMs;
    for (;;) {
      try {
        return await this.#connections.borrow(async (connection) => {
          // It holds the clock: whoever gets that after it finds it ended, one way or the other.
          await connection.command('BEGIN; SELECT FROM floodgate.clock FOR UPDATE');
          const [found] = await connection.query(
            statement<{ entry: string }>('SELECT entry::text FROM floodgate.audit WHERE at = $1', [at]),
          );
          await connection.command('ROLLBACK');
          return found?.entry === entry;
        });
      } catch {
        if (performance.now() > deadlineMs) throw new OutcomeUnknown({ cause });
        await pause(LOOK_UP_PAUSE_MS);
      }
    }
  }
}
