import type { Database } from 'lmdb';
import { encodeRecord } from '../checksum.ts';

/** lmdb's `put` accepts options as its third argument. Its types declare them only for `putSync`. */
interface WithPutOptions {
  put(key: Buffer, value: Buffer, options: { append: boolean }): Promise<boolean>;
}

const APPEND = { append: true };

interface Write {
  readonly database: Database<Buffer, Buffer>;
  readonly key: Buffer;
  readonly record: Buffer | undefined;
  /** Whether the key is higher than all other keys in the database. */
  readonly append: boolean;
}

function carryOut({ database, key, record, append }: Write): Promise<unknown> {
  if (record === undefined) return database.remove(key);
  return append ? (database as WithPutOptions).put(key, record, APPEND) : database.put(key, record);
}

/** Collects changes of records while they are computed. All changes are then written in one transaction. */
export class Writes {
  readonly #writes: Write[] = [];

  put(database: Database<Buffer, Buffer>, key: Buffer, value: Buffer): void {
    this.#writes.push({ database, key, record: encodeRecord(key, value), append: false });
  }

  /**
   * Adds a record whose key is higher than all keys in the database. LMDB then fills each page instead of splitting
   * it in half, which makes the file a tenth smaller.
   */
  append(database: Database<Buffer, Buffer>, key: Buffer, value: Buffer): void {
    this.#writes.push({ database, key, record: encodeRecord(key, value), append: true });
  }

  delete(database: Database<Buffer, Buffer>, key: Buffer): void {
    this.#writes.push({ database, key, record: undefined, append: false });
  }

  /** Writes all collected changes. Must be called within one transaction of the environment. */
  execute(): void {
    let last: Promise<unknown> | undefined;
    for (const write of this.#writes) {
      const written = carryOut(write);
      // If the transaction fails, its caller handles the error. These promises reject too, and must not end the
      // process.
      if (written !== last) written.catch(() => undefined);
      last = written;
    }
  }
}
