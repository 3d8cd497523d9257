import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { OPENING_LOCK_FOLDER } from './storeSeal.ts';

/** The locks of this process, by store folder. A process that opens a store twice uses one lock. */
const locks = new Map<string, EnvironmentLock>();

/**
 * Prevents one process from opening a store while another commits to it (OpenLDAP ITS#9496,
 * https://github.com/monero-project/monero/pull/7656). A process that opens an LMDB environment may publish a stale
 * last-transaction id. A commit made during the open is then invisible to readers, and the next writer overwrites it.
 *
 * The lock is the write lock of an empty LMDB file, shared by all processes and released when a process dies. If that
 * file cannot be created because the disk is full or read-only, there is no lock.
 */
export class EnvironmentLock {
  readonly #path: string;
  #users = 0;
  #root: RootDatabase | undefined;
  #commits = 0;
  #release = (): void => undefined;
  /** After a release of the lock, commits wait one event loop turn, so that a waiting opener gets the lock. */
  #yielded: Promise<void> | undefined;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Returns the lock of a store folder. Each caller must close it once. */
  static of(folder: string): EnvironmentLock {
    const path = resolve(folder);
    const lock = locks.get(path) ?? new EnvironmentLock(path);
    locks.set(path, lock);
    lock.#users++;
    return lock;
  }

  withOpen<T>(openStore: () => T): T {
    // If this process commits, it has the environment open: LMDB reuses it and does not read the transaction id
    // again.
    if (this.#commits > 0) return openStore();
    const root = this.#opened();
    return root === undefined ? openStore() : root.transactionSync(openStore);
  }

  async withCommit<T>(commit: () => PromiseLike<T>): Promise<T> {
    await this.#yielded;
    this.#commits++;
    try {
      if (this.#commits === 1) this.#acquire();
      return await commit();
    } finally {
      if (--this.#commits === 0) {
        this.#release();
        this.#yielded = new Promise((done) => setImmediate(done));
        await this.#closeIfUnused();
      }
    }
  }

  async close(): Promise<void> {
    this.#users--;
    await this.#closeIfUnused();
  }

  async #closeIfUnused(): Promise<void> {
    if (this.#users > 0 || this.#commits > 0) return;
    if (locks.get(this.#path) === this) locks.delete(this.#path);
    const root = this.#root;
    this.#root = undefined;
    await root?.close();
  }

  #acquire(): void {
    this.#release = () => undefined;
    // biome-ignore lint/suspicious/noThenProperty: the transaction ends synchronously with this callback; a promise would end it one iteration later
    const held = { then: (end: () => void) => (this.#release = end) };
    this.#opened()?.transactionSync(() => held);
  }

  #opened(): RootDatabase | undefined {
    // After close(), writes fail in any case, and a new instance of this class may use the lock's file.
    if (this.#users === 0) return undefined;
    try {
      if (this.#root === undefined) {
        const path = join(this.#path, OPENING_LOCK_FOLDER);
        mkdirSync(path, { recursive: true, mode: 0o700 });
        this.#root = open({ path });
      }
    } catch {
      // The store is then opened without a lock. If the disk has failed, opening or writing the store reports it.
    }
    return this.#root;
  }
}
