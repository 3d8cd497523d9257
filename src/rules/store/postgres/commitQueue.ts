import { setTimeout as pause } from 'node:timers/promises';
import { type Micros, OutcomeUnknown, StoreUnavailable } from '../../index.ts';
import type { Connection } from './connection/connection.ts';
import type { Connections } from './connection/connections.ts';
import { ConnectionFailed } from './connection/failures.ts';
import { statement } from './connection/statement.ts';
import { type CommitMarker, Transaction } from './transaction.ts';

/** Maximum time that a change waits in the queue. Equal to the database's lock timeout for the clock row. */
const MAX_QUEUED_MS = 8_000;
/** Maximum time to look up a commit. An interrupted transaction locks the clock row for a shorter time. */
const LOOK_UP_MS = 10_000;
const LOOK_UP_PAUSE_MS = 200;

export interface CommitQueueOptions {
  /** Clock that stamps changes. Default: the clock of the database. */
  readonly now?: (() => Micros) | undefined;
  /** Maximum time in milliseconds to look up a commit's outcome. */
  readonly lookUpMs?: number | undefined;
}

/**
 * Runs changes one after the other, each in its own transaction, and resolves when it is durable. Every transaction
 * locks the clock first, so a second connection would only wait in the database and be missing for reads.
 */
export class CommitQueue {
  readonly #connections: Connections;
  readonly #now: (() => Micros) | undefined;
  readonly #lookUpMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #hasFailed = false;

  constructor({ now, lookUpMs = LOOK_UP_MS }: CommitQueueOptions, connections: Connections) {
    this.#connections = connections;
    this.#lookUpMs = lookUpMs;
    this.#now = now;
  }

  /** Whether the database was reachable and rejected the last change. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  noteWritable(): void {
    this.#hasFailed = false;
  }

  /**
   * Commits an operation, or rolls it back if it throws. Throws `StoreUnavailable` if the database fails, and
   * `OutcomeUnknown` if the response to COMMIT was lost and the outcome cannot be looked up.
   */
  run<T>(operation: (transaction: Transaction) => Promise<T>): Promise<T> {
    const queuedAtMs = performance.now();
    const result = this.#last.then(() => {
      if (performance.now() - queuedAtMs > MAX_QUEUED_MS)
        throw new StoreUnavailable(
          'The rules database is too slow: the change waited too long and was not made',
        );
      return this.#commit(operation);
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  async idle(): Promise<void> {
    await this.#last;
  }

  async #commit<T>(operation: (transaction: Transaction) => Promise<T>): Promise<T> {
    let settle: () => T;
    try {
      this.#connections.assertReachable();
      // `withRetries` repeats the transaction only if none of it was committed.
      settle = await this.#connections.withRetries((connection) => this.#transact(connection, operation));
      this.#hasFailed = false;
    } catch (error) {
      this.#hasFailed = !(error instanceof ConnectionFailed);
      throw error;
    }
    return settle();
  }

  /** Returns a function that returns the operation's result, or throws its error unless the database failed. */
  async #transact<T>(
    connection: Connection,
    operation: (transaction: Transaction) => Promise<T>,
  ): Promise<() => T> {
    const transaction = await Transaction.begin(connection, this.#now);
    let result: T;
    try {
      result = await operation(transaction);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      await connection.command('ROLLBACK');
      return () => {
        throw error;
      };
    }
    const trace = await transaction.finish();
    if (trace === undefined) {
      await connection.command('ROLLBACK');
      return () => result;
    }
    const isCommitted = await connection.command('COMMIT').then(
      (command) => command === 'COMMIT',
      (error) => this.#isStored(trace, error),
    );
    if (!isCommitted) throw new ConnectionFailed('the change was not committed');
    return () => result;
  }

  /** Returns whether a failed COMMIT took effect. Throws `OutcomeUnknown` if the database stays unreachable. */
  async #isStored({ at, entry }: CommitMarker, cause: unknown): Promise<boolean> {
    const deadlineMs = performance.now() + this.#lookUpMs;
    for (;;) {
      try {
        return await this.#connections.borrow(async (connection) => {
          // The interrupted transaction locks the clock row until it ends, so this statement waits for its end.
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
