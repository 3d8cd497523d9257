import type { CompiledQuery } from 'kysely';
import type { Micros, Snapshots } from '../../index.ts';
import type { Connections } from './connections.ts';
import { ConnectionFailed } from './failures.ts';

export interface ReadRememberedOptions<Item> {
  readonly connections: Connections;
  readonly snapshots: Snapshots<Item>;
  /** When something under a key changed last; no row where nothing ever was. */
  readonly changedAt: (key: string) => CompiledQuery<{ at: Micros }>;
  /** That moment and the items, in one state and in their order; a row without an item where there are none. */
  readonly all: (key: string) => CompiledQuery<{ at: Micros; item: Item | null }>;
  readonly finish: (item: Item) => Item;
}

/**
 * Reads collections that are remembered: the database is asked whether what is remembered still stands, and where it is away that
 * is the answer.
 */
export class ReadRemembered<Item> {
  readonly #options: ReadRememberedOptions<Item>;
  readonly #toRead = new Set<string>();

  constructor(options: ReadRememberedOptions<Item>) {
    this.#options = options;
  }

  /** Undefined where nothing ever was. Throws `StoreUnavailable` where the database is away and nothing is remembered. */
  async read(key: string): Promise<readonly Item[] | undefined> {
    const { connections, snapshots } = this.#options;
    try {
      const [state] = await connections.read(this.#options.changedAt(key));
      if (state === undefined) return undefined;
      const items = snapshots.get(key, state.at);
      if (items === undefined) return await this.#readAll(key);
      // What is used stays longest.
      snapshots.set(key, state.at, items);
      return items;
    } catch (error) {
      return this.#remembered(key, error);
    }
  }

  /** One item: of those that are remembered where the database is away. */
  async readOne(
    key: string,
    {
      query,
      isIt,
    }: { readonly query: CompiledQuery<{ item: Item }>; readonly isIt: (item: Item) => boolean },
  ): Promise<Item | undefined> {
    try {
      const [row] = await this.#options.connections.read(query);
      return row && this.#options.finish(row.item);
    } catch (error) {
      return this.#remembered(key, error).find(isIt);
    }
  }

  remembered(): ReadonlyMap<string, Micros> {
    return this.#options.snapshots.moments();
  }

  /** What is remembered under a key is of old: it is read anew, one key after the other. */
  readAgain(key: string): void {
    if (!this.#options.snapshots.has(key)) return;
    this.#toRead.add(key);
    if (this.#toRead.size === 1) void this.#readWaiting();
  }

  async #readWaiting(): Promise<void> {
    for (const key of this.#toRead) {
      // Where it fails the next look compares all that is remembered, and finds it again.
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
