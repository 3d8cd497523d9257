import type { Micros } from './timestamp.ts';

interface Snapshot<Item> {
  readonly changedAt: Micros;
  readonly items: readonly Item[];
}

/** Most items kept decoded, over all accounts: of rules about 50 MB with what callers derive from them. */
const MAX_ITEMS_KEPT = 50_000;

/** What accounts hold, decoded, of those that were set lately; each valid for one moment of change. */
export class Snapshots<Item> {
  readonly #snapshots = new Map<string, Snapshot<Item>>();
  #itemsKept = 0;

  get(accountId: string, changedAt: Micros): readonly Item[] | undefined {
    const snapshot = this.#snapshots.get(accountId);
    return snapshot?.changedAt === changedAt ? snapshot.items : undefined;
  }

  /** Whatever was set last, valid or not. */
  newest(accountId: string): readonly Item[] | undefined {
    return this.#snapshots.get(accountId)?.items;
  }

  has(accountId: string): boolean {
    return this.#snapshots.has(accountId);
  }

  /** Of each account that is kept, the moment of its snapshot. */
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

/** An account without any takes room, too. */
const sizeOf = (items: readonly unknown[]): number => Math.max(1, items.length);
