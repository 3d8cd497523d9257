import type { Database, RootDatabase } from 'lmdb';
import type { StoreFile } from '../../../platform/storeFile/index.ts';
import { StoreUnavailable } from '../../index.ts';
import type { Reserve } from './reserve.ts';

/** One change of one entry; `value` left out removes the entry. */
export interface Write {
  readonly database: Database;
  readonly key: string | number | string[];
  readonly value?: unknown;
}

/** What an operation made of what it read: its answer, and what is to be written for it. */
export interface Decided<T> {
  readonly result: T;
  readonly writes: readonly Write[];
}

export interface GroupCommitDependencies {
  readonly reserve: Pick<Reserve, 'ensure' | 'free'>;
  readonly file: Pick<StoreFile, 'assertInPlace' | 'commit'>;
}

interface Waiting {
  /** Makes room in the end: a deletion. */
  readonly makesRoom: boolean;
  /** Decides and writes inside the transaction. Returns how to settle the caller's promise once it is durable. */
  readonly execute: () => () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Runs write operations in transactions that are on disk before anyone hears of them. Operations that arrive while
 * one commit is being flushed share the next one, so many writers pay for few flushes.
 *
 * An operation first reads and decides, then its writes are made: one that throws while it decides has written
 * nothing and fails alone. A failing write or commit (disk full) aborts the whole transaction, and every operation
 * in it fails with `StoreUnavailable`.
 */
export class GroupCommit {
  readonly #environment: RootDatabase;
  readonly #reserve: Pick<Reserve, 'ensure' | 'free'>;
  readonly #file: Pick<StoreFile, 'assertInPlace' | 'commit'>;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;

  constructor(environment: RootDatabase, { reserve, file }: GroupCommitDependencies) {
    this.#environment = environment;
    this.#reserve = reserve;
    this.#file = file;
  }

  /** `makesRoom`: a deletion, which a full disk takes as well. */
  run<T>(decide: () => Decided<T>, { makesRoom = false } = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const execute = () => {
        let decided: Decided<T>;
        try {
          decided = decide();
        } catch (error) {
          return () => reject(error);
        }
        for (const write of decided.writes) apply(write);
        return () => resolve(decided.result);
      };
      this.#waiting.push({ makesRoom, execute, fail: reject });
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
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      await this.#commit(group);
    }
    this.#running = undefined;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    if (this.#reserve.ensure()) return this.#tryToCommit(group);
    // The room that was kept for deletions is not for anything else.
    const unavailable = new StoreUnavailable('The rules could not be written: the disk is full');
    for (const operation of group) if (!operation.makesRoom) operation.fail(unavailable);
    const deletions = group.filter(({ makesRoom }) => makesRoom);
    if (deletions.length > 0) await this.#tryToCommit(deletions);
  }

  async #tryToCommit(group: readonly Waiting[]): Promise<void> {
    let settle: (() => void)[] = [];
    try {
      this.#file.assertInPlace();
      const write = (): void => {
        settle = group.map((operation) => operation.execute());
      };
      // A child transaction, because only that one is undone when its callback throws.
      await this.#file.commit(() => this.#environment.childTransaction(write));
      // What went into a file that was removed meanwhile is not kept, whatever the commit said.
      this.#file.assertInPlace();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const unavailable = new StoreUnavailable(`The rules could not be written: ${reason}`, { cause: error });
      const deletions = group.filter(({ makesRoom }) => makesRoom);
      const again = deletions.length > 0 && this.#reserve.free();
      for (const operation of group) if (!again || !operation.makesRoom) operation.fail(unavailable);
      if (again) await this.#tryToCommit(deletions);
      return;
    }
    for (const done of settle) done();
  }
}

function apply({ database, key, value }: Write): void {
  if (value === undefined) database.removeSync(key);
  else database.putSync(key, value);
}
