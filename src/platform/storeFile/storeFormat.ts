import type { Database, RootDatabase } from 'lmdb';

export interface StoreFormat {
  readonly store: string;
  readonly folder: string;
  /** Version of the store's layout that this program reads and writes. */
  readonly format: number;
}

class StoreFormatError extends Error {
  override readonly name = 'StoreFormatError';

  constructor({ store, folder, format }: StoreFormat, found: number | undefined) {
    super(
      found !== undefined && found > format
        ? `the store ${store} in ${folder} has format ${found}, which a newer Floodgate wrote; this one knows format ${format}: ` +
            'start the newer version again, or restore a backup that this one made'
        : `the store ${store} in ${folder} was written before 0.1.0; use a new data folder: start with another --data-dir, ` +
            'or move this folder away if nothing in it is needed',
    );
  }
}

/** Database and key of the format version. Revisions of Floodgate before 0.1.0 used other keys. */
const DATABASE = 'format';
const KEY = 'format';

/**
 * Checks the format version of a store, or writes it into a new store. Must be called before other databases are
 * opened, and within a transaction of the caller unless `readOnly` is set. Throws StoreFormatError.
 */
export function checkStoreFormat(root: RootDatabase, expected: StoreFormat, { readOnly = false } = {}): void {
  // In a read-only store, openDB returns undefined for a missing database; lmdb's types omit that case.
  const options = { name: DATABASE, encoding: 'json', keyEncoding: 'ordered-binary' } as const;
  const database: Database<number, string> | undefined = root.openDB<number, string>(options);
  const found = database?.get(KEY);
  if (found === expected.format) return;
  if (found !== undefined || !isEmpty(root)) throw new StoreFormatError(expected, found);
  if (!readOnly) database?.putSync(KEY, expected.format);
}

/** Returns whether the store has no other database, because it is new or its process was killed early. */
function isEmpty(root: RootDatabase): boolean {
  const names = [...root.getKeys({ limit: 2 })].map((name) => Buffer.from(name as string).toString());
  // If the root database was opened with binary keys, a name ends with the NUL that LMDB stores.
  return names.every((name) => name.replace('\0', '') === DATABASE);
}
