/** What a store keeps its format's version in: lmdb's named database, opened by whoever has the engine. */
export interface FormatDatabase {
  get(key: string): number | undefined;
  putSync(key: string, version: number): unknown;
  /** Both within a batch of the caller's. */
  put(key: string, value: number): unknown;
  remove(key: string): unknown;
}

export interface StoreFormat {
  /** As the error names it, for example `rules`. */
  readonly store: string;
  /** The version that this program writes. */
  readonly current: number;
  /**
   * How what an older version wrote is rewritten: all of it within the transaction that also writes the new version; or, for a
   * store too large for one, `inSteps` by PendingUpgrade, while it is read and written.
   */
  readonly upgrade?: ((from: number) => void) | 'inSteps';
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
 * Sees to it that a store has the format of this program: one that is new gets it, one that is older is upgraded, within the
 * transaction of the caller's. Throws StoreFormatError for one that is newer. `write` is undefined where it is opened to read only,
 * and so is `database` where it is an older one.
 */
export function checkStoreFormat(
  { store, current, upgrade }: StoreFormat,
  database: FormatDatabase | undefined,
  write: { readonly isNew: boolean } | undefined,
): void {
  const written = database?.get(KEY);
  const from = written ?? FIRST;
  if (from > current) throw new StoreFormatError(store, from, current);
  if (write === undefined || database === undefined || written === current) return;
  if (from < current && !write.isNew) {
    if (upgrade === 'inSteps') beginUpgrade(database, from);
    else upgrade?.(from);
  }
  // Also where an upgrade only begins: from its first step on an older version cannot read all.
  database.putSync(KEY, current);
}

const FROM_KEY = 'upgradedFrom';
const CURSOR_KEY = 'upgradedTo';

/** One that was under way, and did not come to its end before a further version, begins again: its steps read every format since. */
function beginUpgrade(database: FormatDatabase, from: number): void {
  database.putSync(FROM_KEY, database.get(FROM_KEY) ?? from);
  database.putSync(CURSOR_KEY, 0);
}

/** How far an upgrade has come. */
export interface UpgradeProgress {
  /** The oldest format that may be found. */
  readonly from: number;
  /** Where the next step begins; 0 at first. */
  readonly cursor: number;
}

/**
 * Rewrites, as part of the caller's batch, a bounded number of records from a place on. Gives the place behind them; undefined
 * where there are no more. What is rewritten already may come again.
 */
export type UpgradeStep = (progress: UpgradeProgress) => number | undefined;

/**
 * An upgrade of a store in steps. Until its end records of both formats are there, so whoever reads tells them apart; what is
 * written meanwhile is of the new one. Each step is a transaction that also moves the cursor: one that is broken off, by a kill
 * too, goes on from there.
 */
export class PendingUpgrade {
  readonly #database: FormatDatabase;
  readonly #step: UpgradeStep;

  constructor(database: FormatDatabase, step: UpgradeStep) {
    this.#database = database;
    this.#step = step;
  }

  /** Undefined where nothing is left to upgrade. */
  get progress(): UpgradeProgress | undefined {
    const from = this.#database.get(FROM_KEY);
    return from === undefined ? undefined : { from, cursor: this.#database.get(CURSOR_KEY) ?? 0 };
  }

  /** One step, to be called within a batch. */
  step(): void {
    const { progress } = this;
    if (progress === undefined) return;
    const cursor = this.#step(progress);
    if (cursor !== undefined) {
      if (cursor <= progress.cursor) throw new Error(`the upgrade stays at ${progress.cursor}`);
      this.#database.put(CURSOR_KEY, cursor);
      return;
    }
    this.#database.remove(FROM_KEY);
    this.#database.remove(CURSOR_KEY);
  }
}
