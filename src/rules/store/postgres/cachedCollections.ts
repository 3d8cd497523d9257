import { inBackground } from '../../../platform/background/index.ts';
import type { Micros, SnapshotCache } from '../../index.ts';
import type { Connections } from './connection/connections.ts';
import { ConnectionFailed } from './connection/failures.ts';
import type { Statement } from './connection/statement.ts';

/** Items of a key, and the time of their last change; 0 if the key never had data. */
export interface CollectionState {
  readonly at: Micros;
  readonly items: readonly unknown[];
}

export interface CachedCollectionsOptions<Item> {
  readonly connections: Connections;
  readonly snapshots: SnapshotCache<Item>;
  /** Query for the time of a key's last change. It returns no row if the key never had data. */
  readonly changedAt: (key: string) => Statement<{ at: Micros }>;
  /**
   * Query for a key's items in order, each row with the time of the key's last change. Without items, it returns one
   * row whose item is null.
   */
  readonly all: (key: string) => Statement<{ at: Micros; item: Item | null }>;
  readonly finish: (item: Item) => Item;
}

/**
 * Collections of items with a cache. A read uses the cache if the database confirms that it is current, or if the
 * database is unreachable.
 */
export class CachedCollections<Item> {
  readonly #options: CachedCollectionsOptions<Item>;
  readonly #toRead = new Set<string>();

  constructor(options: CachedCollectionsOptions<Item>) {
    this.#options = options;
  }

  /**
   * Returns the items of a key, or undefined if it never had data. Throws `StoreUnavailable` if the database is
   * unreachable and the cache lacks the key.
   */
  async read(key: string): Promise<readonly Item[] | undefined> {
    const { connections, snapshots } = this.#options;
    try {
      const [state] = await connections.read(this.#options.changedAt(key));
      if (state === undefined) return undefined;
      const items = snapshots.get(key, state.at);
      if (items === undefined) return await this.#readAll(key);
      // Setting the items again makes them the most recently used ones, which are evicted last.
      snapshots.set(key, state.at, items);
      return items;
    } catch (error) {
      return this.#remembered(key, error);
    }
  }

  /** Returns one item from the database, or from the cache if the database is unreachable. */
  async readOne(
    key: string,
    { query, isIt }: { readonly query: Statement<{ item: Item }>; readonly isIt: (item: Item) => boolean },
  ): Promise<Item | undefined> {
    try {
      const [row] = await this.#options.connections.read(query);
      return row && this.#options.finish(row.item);
    } catch (error) {
      return this.#remembered(key, error).find(isIt);
    }
  }

  /** Returns the state of a key for a snapshot. */
  async state(key: string): Promise<CollectionState> {
    const items = (await this.read(key)) ?? [];
    return { at: this.#options.snapshots.changedAt(key) ?? 0, items };
  }

  /** Fills the cache with the state of a snapshot, which `state` returned earlier. */
  restore(key: string, { at, items }: CollectionState): void {
    const { snapshots, finish } = this.#options;
    snapshots.set(key, at, Object.freeze((items as Item[]).map(finish))); // `state` returned items of this type
  }

  cached(): ReadonlyMap<string, Micros> {
    return this.#options.snapshots.moments();
  }

  scheduleRead(key: string): void {
    if (!this.#options.snapshots.has(key)) return;
    this.#toRead.add(key);
    if (this.#toRead.size === 1) inBackground('rules of the database', () => this.#readWaiting());
  }

  async #readWaiting(): Promise<void> {
    for (const key of this.#toRead) {
      // A failure is ignored, because the next poll then compares all cached data and reports the key again.
      await this.#readAll(key).catch(() => undefined);
      this.#toRead.delete(key);
    }
  }

  #remembered(key: string, error: unknown): readonly Item[] {
    const items = error instanceof ConnectionFailed ? this.#options.snapshots.newest(key) : undefined;
    if (items === undefined) throw error;
    return items;
  }

  async #readAll(key: string): Promise<readonly Item[]> {
    const { connections, snapshots, finish } = this.#options;
    const rows = await connections.read(this.#options.all(key));
    const items = Object.freeze(rows.flatMap(({ item }) => (item === null ? [] : [finish(item)])));
    const at = rows[0]?.at ?? 0;
    const same = snapshots.get(key, at);
    if (same) return same;
    snapshots.set(key, at, items);
    return items;
  }
}
