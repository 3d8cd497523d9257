import type { Micros } from './timestamp.ts';

interface Snapshot<Item> {
  readonly changedAt: Micros;
  readonly items: readonly Item[];
}

/** Maximum number of cached items of all accounts. 50,000 rules with data derived from them use about 50 MB. */
const MAX_ITEMS_KEPT = 50_000;

/**
 * Caches the items of each account, such as its rules. The items are valid until the account's next change, and the
 * account whose items were set longest ago is evicted first.
 */
export class SnapshotCache<Item> {
  readonly #snapshots = new Map<string, Snapshot<Item>>();
  #itemsKept = 0;

  get(accountId: string, changedAt: Micros): readonly Item[] | undefined {
    const snapshot = this.#snapshots.get(accountId);
    return snapshot?.changedAt === changedAt ? snapshot.items : undefined;
  }

  /** Returns the items of an account that were cached last, even if the account was changed since. */
  newest(accountId: string): readonly Item[] | undefined {
    return this.#snapshots.get(accountId)?.items;
  }

  /** Returns the time of the last change that the cached items include. */
  changedAt(accountId: string): Micros | undefined {
    return this.#snapshots.get(accountId)?.changedAt;
  }

  has(accountId: string): boolean {
    return this.#snapshots.has(accountId);
  }

  moments(): ReadonlyMap<string, Micros> {
    return new Map([...this.#snapshots].map(([accountId, { changedAt }]) => [accountId, changedAt]));
  }

  set(accountId: string, changedAt: Micros, items: readonly Item[]): void {
    this.#remove(accountId);
    this.#snapshots.set(accountId, { changedAt, items });
    this.#itemsKept += sizeOf(items);
    for (const oldest of this.#snapshots.keys()) {
      if (this.#itemsKept <= MAX_ITEMS_KEPT) break;
      this.#remove(oldest);
    }
  }

  #remove(accountId: string): void {
    const snapshot = this.#snapshots.get(accountId);
    if (snapshot === undefined) return;
    this.#itemsKept -= sizeOf(snapshot.items);
    this.#snapshots.delete(accountId);
  }
}

/** An account without items counts as one item, because its cache entry needs memory too. */
const sizeOf = (items: readonly unknown[]): number => Math.max(1, items.length);
