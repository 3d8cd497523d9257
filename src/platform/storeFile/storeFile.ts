import { isDeepStrictEqual } from 'node:util';
import { committed } from './committed.ts';
import { OpeningLock } from './openingLock.ts';
import { type FileIdentity, identityOf, isSameFile, sealOf, sealStoreFile } from './storeSeal.ts';

/** The store's file is a copy, which may be torn: reading one can end the process, or give what never was. */
export class StoreCopiedError extends Error {
  override readonly name = 'StoreCopiedError';

  constructor(folder: string) {
    super(
      `${folder} is a copy of a store, which may be torn: run \`floodgate verify\` on its data folder; what passes is ` +
        'opened from then on. To copy the data of a running server, use `floodgate backup`',
    );
  }
}

/** The file that was opened is no longer the one at its path: what is written into it is lost. */
export class StoreGoneError extends Error {
  override readonly name = 'StoreGoneError';

  constructor(folder: string) {
    super(
      `the store's file in ${folder} was removed or replaced while it was open: nothing more is written. Put it back, or ` +
        'restore a backup, and start again',
    );
  }
}

/**
 * The file of one store. It remembers beside itself which file it is, so that a copy is told from the file of a process that
 * was killed.
 */
export class StoreFile {
  readonly #folder: string;
  #opened: FileIdentity | undefined;
  #lock: OpeningLock | undefined;

  /**
   * To be made before the store is opened. Throws StoreCopiedError where the file in the folder is a copy, unless it is opened
   * to be verified.
   */
  constructor(folder: string, { isVerified = false }: { readonly isVerified?: boolean } = {}) {
    this.#folder = folder;
    const [now, sealed] = [identityOf(folder), sealOf(folder)];
    // A seal without a file is of a store that somebody removed: what is made now is its own.
    if (!isVerified && now !== undefined && sealed !== undefined && !isSameFile(now, sealed))
      throw new StoreCopiedError(folder);
  }

  /** Opens the store while no other process commits to it. */
  opening<T>(openStore: () => T): T {
    const lock = OpeningLock.of(this.#folder);
    try {
      const opened = lock.opening(openStore);
      this.#lock = lock;
      return opened;
    } catch (error) {
      void lock.close();
      throw error;
    }
  }

  /** Commits to the store while no other process opens it. Rejects with the reason where lmdb says only that it failed. */
  commit<T>(commit: () => PromiseLike<T>): Promise<T> {
    const write = () => committed(commit());
    return this.#lock === undefined ? write() : this.#lock.committing(write);
  }

  /** To be called once the store is closed. */
  async close(): Promise<void> {
    await this.#lock?.close();
  }

  /** To be called once the store is open, which may have made its file. To read only, nothing is written. */
  opened({ readOnly = false } = {}): void {
    this.#opened = identityOf(this.#folder);
    // What is not told of a file that was just made may be told later, and its device may have another number by now.
    if (!readOnly && !isDeepStrictEqual(sealOf(this.#folder), this.#opened)) sealStoreFile(this.#folder);
  }

  /** Throws StoreGoneError where the opened file is no longer the one at its path. To be called before what is written counts. */
  assertInPlace(): void {
    const now = identityOf(this.#folder);
    if (now === undefined || this.#opened === undefined || !isSameFile(now, this.#opened))
      throw new StoreGoneError(this.#folder);
  }
}
