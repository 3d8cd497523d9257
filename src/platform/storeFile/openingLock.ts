import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { open, type RootDatabase } from 'lmdb';

/** In a store's folder. */
const FOLDER = 'opening-lock';

/** By folder: a process that has a store open twice has one lock. */
const locks = new Map<string, OpeningLock>();

/**
 * Keeps a store from being opened by one process while another commits to it. LMDB, as lmdb brings it, reads which state is the newest as it
 * opens a file, and then tells all processes so: a commit in between is not seen by whoever reads, and the next one is written over it
 * (OpenLDAP's ITS#9496, https://github.com/monero-project/monero/pull/7656).
 *
 * The lock is the write lock of an LMDB file in which nothing is ever written: all processes share it, and one that dies lets go of it. Where
 * that file cannot be made, as the disk is full or read only, there is no lock.
 */
export class OpeningLock {
  readonly #path: string;
  #users = 0;
  #root: RootDatabase | undefined;
  /** Commits of this process that have not ended. */
  #committing = 0;
  #letGo = (): void => undefined;
  /** Whoever opens gets a turn between two commits: the lock is given to whoever asks next, not to who has waited. */
  #turn: Promise<void> | undefined;

  private constructor(path: string) {
    this.#path = path;
  }

  /** That of a store's folder. To be closed once by each who asked for it. */
  static of(folder: string): OpeningLock {
    const path = resolve(folder);
    const lock = locks.get(path) ?? new OpeningLock(path);
    locks.set(path, lock);
    lock.#users++;
    return lock;
  }

  /** Opens the store while no other process commits to it. */
  opening<T>(openStore: () => T): T {
    // This process has the store open, which LMDB knows: nothing is read anew.
    if (this.#committing > 0) return openStore();
    const root = this.#opened();
    return root === undefined ? openStore() : root.transactionSync(openStore);
  }

  /** Commits while no other process opens the store. */
  async committing<T>(commit: () => PromiseLike<T>): Promise<T> {
    await this.#turn;
    this.#committing++;
    try {
      if (this.#committing === 1) this.#hold();
      return await commit();
    } finally {
      if (--this.#committing === 0) {
        this.#letGo();
        this.#turn = new Promise((done) => setImmediate(done));
        await this.#endUnused();
      }
    }
  }

  async close(): Promise<void> {
    this.#users--;
    await this.#endUnused();
  }

  async #endUnused(): Promise<void> {
    if (this.#users > 0 || this.#committing > 0) return;
    if (locks.get(this.#path) === this) locks.delete(this.#path);
    const root = this.#root;
    this.#root = undefined;
    await root?.close();
  }

  #hold(): void {
    this.#letGo = () => undefined;
    // biome-ignore lint/suspicious/noThenProperty: a transaction lasts until this is called back, and ends in that turn; after a promise it would a turn later
    const held = { then: (end: () => void) => (this.#letGo = end) };
    this.#opened()?.transactionSync(() => held);
  }

  #opened(): RootDatabase | undefined {
    // What is written once the store is closed fails by itself, and another may have its lock by now.
    if (this.#users === 0) return undefined;
    try {
      if (this.#root === undefined) {
        const path = join(this.#path, FOLDER);
        mkdirSync(path, { recursive: true, mode: 0o700 });
        this.#root = open({ path });
      }
    } catch {
      // Whoever opens or writes the store itself is told what is wrong.
    }
    return this.#root;
  }
}
