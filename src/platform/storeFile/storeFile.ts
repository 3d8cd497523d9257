import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { RootDatabase } from 'lmdb';
import { inBackground } from '../background/index.ts';
import { countCommit } from '../exit/index.ts';
import { checkHeads } from './checkHeads.ts';
import { checkWritable } from './checkWritable.ts';
import { reasonOf } from './commits.ts';
import { EnvironmentLock } from './environmentLock.ts';
import {
  DATA_FILE,
  type FileIdentity,
  identityOf,
  isSameFile,
  requireRegularStore,
  StoreWriteError,
  sealOf,
  sealStoreFile,
} from './storeSeal.ts';

/**
 * Thrown if the data file of a store is a copy, which may be torn. Reading a torn file may crash the process or
 * return wrong data.
 */
export class StoreCopiedError extends Error {
  override readonly name = 'StoreCopiedError';

  constructor(folder: string) {
    super(
      `${folder} is a copy of a store, which may be torn: run \`floodgate verify\` on its data folder; a store that ` +
        'passes can be opened. To copy the data of a running server, use `floodgate backup`',
    );
  }
}

/** Thrown if a store's data file was removed or replaced while it was open, so that writes would be lost. */
export class StoreGoneError extends Error {
  override readonly name = 'StoreGoneError';

  constructor(folder: string) {
    super(
      `the store's file in ${folder} was removed or replaced while it was open: writing has stopped. Put it back; or ` +
        'stop Floodgate, restore a backup and start again',
    );
  }
}

/** The data file of a store. A seal in the same folder records the identity of the original, which no copy has. */
export class StoreFile {
  readonly #folder: string;
  #identity: FileIdentity | undefined;
  #lock: EnvironmentLock | undefined;
  #hasFailedCommit = false;
  /** Whether the last commit could not be written. */
  #isUnwritable = false;

  /**
   * Must be created before the store is opened. Throws StoreCopiedError for a copy unless `isVerified` is set. Throws if
   * a file of the store is not a regular file.
   */
  constructor(folder: string, { isVerified = false }: { readonly isVerified?: boolean } = {}) {
    this.#folder = folder;
    requireRegularStore(folder);
    const [now, sealed] = [identityOf(folder), sealOf(folder)];
    // A seal without a data file belongs to a removed store. The data file that is created now is a new original.
    if (!isVerified && now !== undefined && sealed !== undefined && !isSameFile(now, sealed))
      throw new StoreCopiedError(folder);
  }

  /** Opens the store while no other process commits to it. Throws StoreDamagedError if its file would crash LMDB. */
  withOpen<T>(openStore: () => T): T {
    const lock = EnvironmentLock.of(this.#folder);
    try {
      const recordIdentity = lock.withOpen(() => {
        checkHeads(join(this.#folder, DATA_FILE));
        return openStore();
      });
      this.#lock = lock;
      return recordIdentity;
    } catch (error) {
      inBackground('lock of a store', () => lock.close());
      throw error;
    }
  }

  /**
   * Commits while no other process opens the store. Rejects with StoreWriteError, or an error of `commit` itself. After
   * a failed write, `commit` is called only if a small file can be written: lmdb 3.5.6 writes the message of a failed
   * write into a buffer of 100 bytes, so that repeated failures crash the process.
   */
  commit<T>(commit: () => PromiseLike<T>): Promise<T> {
    const write = async (): Promise<T> => {
      if (this.#isUnwritable) await checkWritable(this.#folder);
      try {
        const result = await commit();
        this.#isUnwritable = false;
        return result;
      } catch (error) {
        this.#hasFailedCommit = true;
        const reason = await reasonOf(error);
        this.#isUnwritable ||= reason !== undefined;
        throw reason === undefined ? error : new StoreWriteError(this.#folder, reason);
      }
    };
    const lock = this.#lock;
    return countCommit(() => (lock === undefined ? write() : lock.withCommit(write)));
  }

  /**
   * Closes the store, and releases the lock. lmdb would wait without end for the flush of a failed commit; an empty
   * transaction, which writes nothing, ends this wait.
   */
  async close(root: RootDatabase): Promise<void> {
    this.#isUnwritable = false;
    if (this.#hasFailedCommit)
      await this.commit(() => root.transaction(() => undefined)).catch(() => undefined);
    await root.close();
    await this.#lock?.close();
  }

  /**
   * Seals the data file, unless `readOnly`. Must be called after the store was opened, which may create the file. Throws
   * StoreWriteError.
   */
  opened({ readOnly = false } = {}): void {
    this.#identity = identityOf(this.#folder);
    // The identity of the same file may change: its creation time may become known, and its device may get another
    // number.
    if (!readOnly && !isDeepStrictEqual(sealOf(this.#folder), this.#identity)) sealStoreFile(this.#folder);
  }

  /**
   * Throws StoreGoneError if the data file was removed or replaced since it was opened. Must be called before a write
   * is acknowledged.
   */
  assertInPlace(): void {
    const now = identityOf(this.#folder);
    if (now === undefined || this.#identity === undefined || !isSameFile(now, this.#identity))
      throw new StoreGoneError(this.#folder);
  }
}
