import type { Database, RootDatabase } from 'lmdb';
import { failureReporter } from '../../../platform/background/index.ts';
import type { StoreFile } from '../../../platform/storeFile/index.ts';
import { StoreUnavailable } from '../../index.ts';
import type { Reserve } from './reserve.ts';

/** Write of one record. Without `value`, the record is removed. */
export interface Write {
  readonly database: Database;
  readonly key: string | number | string[];
  readonly value?: unknown;
}

export interface Decision<T> {
  readonly result: T;
  readonly writes: readonly Write[];
}

export interface GroupCommitDependencies {
  readonly reserve: Pick<Reserve, 'ensure' | 'free'>;
  readonly file: Pick<StoreFile, 'assertInPlace' | 'commit'>;
}

interface Waiting {
  /** Whether the operation is a deletion, which frees disk space. */
  readonly makesRoom: boolean;
  /**
   * Runs the operation in the transaction. The function that it returns is called after a durable commit, and settles
   * the promise of the operation.
   */
  readonly execute: () => () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Runs operations in transactions, and settles the promise of each operation when the commit is durable. Operations
 * that arrive before a transaction starts are a part of it, which limits the number of flushes.
 *
 * An operation decides before it writes, so an operation that throws while deciding fails alone. If a write or commit
 * fails (disk full), the transaction is aborted and all its operations fail with `StoreUnavailable`.
 */
export class GroupCommit {
  readonly #environment: RootDatabase;
  readonly #reserve: Pick<Reserve, 'ensure' | 'free'>;
  readonly #file: Pick<StoreFile, 'assertInPlace' | 'commit'>;
  readonly #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;

  constructor(environment: RootDatabase, { reserve, file }: GroupCommitDependencies) {
    this.#environment = environment;
    this.#reserve = reserve;
    this.#file = file;
  }

  /**
   * Runs an operation: calls `decide` in a transaction, and writes the records that it returns. `makesRoom` marks a
   * deletion, which is possible even if the disk is full.
   */
  run<T>(decide: () => Decision<T>, { makesRoom = false } = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const execute = () => {
        let decided: Decision<T>;
        try {
          decided = decide();
        } catch (error) {
          return () => reject(error);
        }
        for (const write of decided.writes) apply(write);
        return () => resolve(decided.result);
      };
      this.#waiting.push({ makesRoom, execute, fail: reject });
      this.#running ??= Promise.resolve()
        .then(() => this.#drain())
        .catch(failureReporter('changes of rules'));
    });
  }

  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        try {
          await this.#commitWaiting();
        } catch (error) {
          // The file of the reserve cannot be created, for example on a read-only file system.
          fail(this.#take(), notWritten(error));
        }
      }
    } finally {
      this.#running = undefined;
    }
  }

  async #commitWaiting(): Promise<void> {
    if (this.#reserve.ensure()) return this.#commit(() => this.#take());
    // The disk is full, and the reserved space is only for deletions.
    const [deletions, others] = divide(this.#take());
    fail(others, new StoreUnavailable('The rules could not be written: the disk is full'));
    if (deletions.length > 0) await this.#commit(() => deletions);
  }

  #take(): Waiting[] {
    return this.#waiting.splice(0);
  }

  /** Commits the operations that `take` returns when the transaction starts. */
  async #commit(take: () => readonly Waiting[]): Promise<void> {
    let group: readonly Waiting[] | undefined;
    let settle: (() => void)[] = [];
    try {
      this.#file.assertInPlace();
      const write = (): void => {
        group = take();
        settle = group.map((operation) => operation.execute());
      };
      // A child transaction is needed, because LMDB rolls back no other transaction when its callback throws.
      await this.#file.commit(() => this.#environment.childTransaction(write));
      // If the data file was removed during the commit, the written data is lost even though the commit succeeded.
      this.#file.assertInPlace();
    } catch (error) {
      const [deletions, others] = divide(group ?? take());
      fail(others, notWritten(error));
      if (deletions.length > 0 && this.#freeReserve()) await this.#commit(() => deletions);
      else fail(deletions, notWritten(error));
      return;
    }
    for (const done of settle) done();
  }

  #freeReserve(): boolean {
    try {
      return this.#reserve.free();
    } catch {
      return false; // its file cannot be removed, for example on a read-only file system
    }
  }
}

function divide(group: readonly Waiting[]): [deletions: Waiting[], others: Waiting[]] {
  return [group.filter(({ makesRoom }) => makesRoom), group.filter(({ makesRoom }) => !makesRoom)];
}

function fail(group: readonly Waiting[], error: StoreUnavailable): void {
  for (const operation of group) operation.fail(error);
}

function notWritten(error: unknown): StoreUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`The rules could not be written: ${reason}`, { cause: error });
}

function apply({ database, key, value }: Write): void {
  if (value === undefined) database.removeSync(key);
  else database.putSync(key, value);
}
