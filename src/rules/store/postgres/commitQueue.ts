import { setTimeout as pause } from 'node:timers/promises';
import { awaitedLater } from '../../../platform/background/index.ts';
import { Slots } from '../../../platform/budgets/index.ts';
import { type Micros, OutcomeUnknown, StoreUnavailable } from '../../index.ts';
import type { Connection } from './connection/connection.ts';
import type { Connections } from './connection/connections.ts';
import { ConnectionFailed } from './connection/failures.ts';
import { statement } from './connection/statement.ts';
import { type CommitMarker, Transaction } from './transaction.ts';

/** Maximum time that a change waits in the queue. It equals the lock timeout of the database for the clock row. */
const MAX_QUEUED_MS = 8_000;
/** Maximum time to find out whether a commit took effect. An interrupted transaction locks the clock row for less. */
const LOOK_UP_MS = 10_000;
const LOOK_UP_PAUSE_MS = 200;

export interface CommitQueueOptions {
  /** Returns the current time, for the times of changes. Default: the clock of the database. */
  readonly now?: (() => Micros) | undefined;
  /** Maximum time in milliseconds to find out whether a commit took effect. */
  readonly lookUpMs?: number | undefined;
}

/**
 * Runs changes one after the other, each in its own transaction. Accounts take turns. A promise resolves when its
 * change is durable. Every transaction locks the clock row first, so a second connection for changes would only wait,
 * and reads would lack it.
 */
export class CommitQueue {
  readonly #connections: Connections;
  readonly #now: (() => Micros) | undefined;
  readonly #lookUpMs: number;
  readonly #slots = new Slots({ total: 1, perClient: 1 });
  #all: Promise<unknown> = Promise.resolve();
  #hasFailed = false;

  constructor({ now, lookUpMs = LOOK_UP_MS }: CommitQueueOptions, connections: Connections) {
    this.#connections = connections;
    this.#lookUpMs = lookUpMs;
    this.#now = now;
  }

  /** Whether the last change failed although the database was reachable. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  noteWritable(): void {
    this.#hasFailed = false;
  }

  /**
   * Runs an operation of an account and commits its writes, or rolls them back if it throws. Throws `StoreUnavailable`
   * if the database fails, and `OutcomeUnknown` if the response to COMMIT was lost and it cannot be checked whether it
   * took effect.
   */
  run<T>(account: string, operation: (transaction: Transaction) => Promise<T>): Promise<T> {
    const result = this.#runInTurn(account, operation);
    this.#all = awaitedLater(Promise.allSettled([this.#all, result]));
    return result;
  }

  async idle(): Promise<void> {
    await this.#all;
  }

  #runInTurn<T>(account: string, operation: (transaction: Transaction) => Promise<T>): Promise<T> {
    const queuedAtMs = performance.now();
    return this.#slots.run({ address: account }, async () => {
      if (performance.now() - queuedAtMs > MAX_QUEUED_MS)
        throw new StoreUnavailable(
          'The rules database is too slow: the change waited too long and was not made',
        );
      return this.#commit(operation);
    });
  }

  async #commit<T>(operation: (transaction: Transaction) => Promise<T>): Promise<T> {
    let settle: () => T;
    try {
      this.#connections.assertReachable();
      // `withRetries` repeats the transaction only after a failure in which nothing was committed.
      settle = await this.#connections.withRetries((connection) => this.#transact(connection, operation));
      this.#hasFailed = false;
    } catch (error) {
      this.#hasFailed = !(error instanceof ConnectionFailed);
      throw error;
    }
    return settle();
  }

  /**
   * Runs an operation in a transaction. Returns a function that returns the operation's result or throws its error.
   * Failures of the database are thrown at once.
   */
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

  /**
   * Returns whether a COMMIT without a response took effect. Throws `OutcomeUnknown` if it cannot find out in time.
   */
  async #isStored({ at, entry }: CommitMarker, cause: unknown): Promise<boolean> {
    const deadlineMs = performance.now() + this.#lookUpMs;
    for (;;) {
      try {
        return await this.#connections.borrow(async (connection) => {
          // The interrupted transaction locks the clock row, so this statement waits until that transaction ends.
          await connection.begin('SELECT FROM floodgate.clock FOR UPDATE');
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
