import type { Database } from 'lmdb';

/** lmdb's `put` accepts options in place of a version. Its types declare them only for `putSync`. */
interface WithPutOptions {
  put(key: Buffer, value: Buffer, options: { append: boolean }): Promise<boolean>;
}

const APPEND = { append: true };

interface Write {
  readonly database: Database<Buffer, Buffer>;
  readonly key: Buffer;
  readonly value: Buffer | undefined;
  /** Whether the key is higher than all others in the database. */
  readonly append: boolean;
}

function carryOut({ database, key, value, append }: Write): Promise<unknown> {
  if (value === undefined) return database.remove(key);
  return append ? (database as WithPutOptions).put(key, value, APPEND) : database.put(key, value);
}

/** Records to write in one transaction, after all of them are computed. */
export class Writes {
  readonly #writes: Write[] = [];

  put(database: Database<Buffer, Buffer>, key: Buffer, value: Buffer): void {
    this.#writes.push({ database, key, value, append: false });
  }

  /**
   * Adds a record after the last key of the database. LMDB then fills each page instead of halving it, which makes
   * the file a tenth smaller.
   */
  append(database: Database<Buffer, Buffer>, key: Buffer, value: Buffer): void {
    this.#writes.push({ database, key, value, append: true });
  }

  delete(database: Database<Buffer, Buffer>, key: Buffer): void {
    this.#writes.push({ database, key, value: undefined, append: false });
  }

  /** Must be called within one atomic batch of the environment. */
  execute(): void {
    let last: Promise<unknown> | undefined;
    for (const write of this.#writes) {
      const written = carryOut(write);
      // The caller of the batch handles its failure. These promises reject too, which must not end the process.
      if (written !== last) written.catch(() => undefined);
      last = written;
    }
  }
}
