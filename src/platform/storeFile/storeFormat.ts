/** What a store keeps its format's version in: lmdb's named database, opened by whoever has the engine. */
export interface FormatDatabase {
  get(key: string): number | undefined;
  putSync(key: string, version: number): unknown;
}

export interface StoreFormat {
  /** As the error names it, for example `rules`. */
  readonly store: string;
  /** The version that this program writes. */
  readonly current: number;
  /** Rewrites what an older version wrote, within the transaction that also writes the new version. */
  readonly upgrade?: (from: number) => void;
}

/** The store was written by a newer Floodgate. */
class StoreFormatError extends Error {
  override readonly name = 'StoreFormatError';

  constructor(store: string, found: number, current: number) {
    super(
      `the store ${store} has format ${found}, which a newer Floodgate wrote; this one knows formats up to ${current}. ` +
        'Start the newer version again, or restore a backup that this one made',
    );
  }
}

const KEY = 'version';
/** What was written before versions were. */
const FIRST = 1;

/**
 * Sees to it that a store has the format of this program: one that is new gets it, one that is older is upgraded, all in one
 * transaction. Throws StoreFormatError for one that is newer. `database` is undefined where an older store is opened to read
 * only.
 */
export function checkStoreFormat(
  { store, current, upgrade }: StoreFormat,
  database: FormatDatabase | undefined,
  write: { readonly isNew: boolean; readonly inTransaction: (work: () => void) => void } | undefined,
): void {
  const found = database?.get(KEY) ?? FIRST;
  if (found > current) throw new StoreFormatError(store, found, current);
  if (write === undefined || database === undefined || database.get(KEY) === current) return;
  write.inTransaction(() => {
    // Another process may have done it meanwhile.
    const from = database.get(KEY) ?? FIRST;
    if (from < current && !write.isNew) upgrade?.(from);
    if (from <= current) database.putSync(KEY, current);
  });
}
