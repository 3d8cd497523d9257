import type { Database } from 'lmdb';

/** lmdb's put takes options in place of a version; its type definition knows them for putSync alone. */
interface WithPutOptions {
  put(key: Buffer, value: Buffer, options: { append: boolean }): Promise<boolean>;
}

const APPEND = { append: true };

/** A record to write, or to remove where it has no value. */
interface Write {
  readonly database: Database<Buffer, Buffer>;
  readonly key: Buffer;
  readonly value: Buffer | undefined;
  /** Whether it stands behind all others. */
  readonly append: boolean;
}

function carryOut({ database, key, value, append }: Write): Promise<unknown> {
  if (value === undefined) return database.remove(key);
  return append ? (database as WithPutOptions).put(key, value, APPEND) : database.put(key, value);
}

/** Records to write together, in one transaction, once all of them are worked out. */
export class Writes {
  readonly #writes: Write[] = [];

  put(database: Database<Buffer, Buffer>, key: Buffer, value: Buffer): void {
    this.#writes.push({ database, key, value, append: false });
  }

  /** Behind the last key a page is filled to its end; elsewhere it is split in two halves: a tenth of the file. */
  append(database: Database<Buffer, Buffer>, key: Buffer, value: Buffer): void {
    this.#writes.push({ database, key, value, append: true });
  }

  delete(database: Database<Buffer, Buffer>, key: Buffer): void {
    this.#writes.push({ database, key, value: undefined, append: false });
  }

  /** To be called within one atomic batch of the environment. */
  carryOut(): void {
    let last: Promise<unknown> | undefined;
    for (const write of this.#writes) {
      const written = carryOut(write);
      // Whether the batch was committed is told to whoever began it; that these fail with it must not end the process.
      if (written !== last) written.catch(() => undefined);
      last = written;
    }
  }
}
