import { awaitedLater, inBackground } from '../background/index.ts';

/** Interval at which last uses are written to the store. A crash loses later uses; a regular stop loses none. */
const WRITE_MS = 60_000;
/** Maximum number of ids of tokens or keys that are used between two writes. A store has far fewer valid ids. */
const MAX_SEEN = 10_000;

export interface LastUsedStore {
  lastUses(): Promise<ReadonlyMap<string, string>>;
  noteUses(uses: ReadonlyMap<string, string>): Promise<void>;
}

export interface LastUsesOptions {
  /** Formats a time as the store does, in a form that sorts chronologically. */
  readonly timestampOf: (atMs: number) => string;
  readonly writeMs?: number;
}

/** Collects the time of the last use of each token or key, and writes these times to a store once a minute. */
export class LastUsedTracker {
  readonly #store: LastUsedStore;
  readonly #timestampOf: LastUsesOptions['timestampOf'];
  /** Uses that are not written yet. */
  readonly #seenAtMs = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> | undefined;

  constructor({ timestampOf, writeMs = WRITE_MS }: LastUsesOptions, store: LastUsedStore) {
    this.#store = store;
    this.#timestampOf = timestampOf;
    this.#timer = setInterval(() => inBackground('last uses of tokens', () => this.write()), writeMs).unref();
  }

  used(id: string): void {
    if (this.#seenAtMs.size < MAX_SEEN || this.#seenAtMs.has(id)) this.#seenAtMs.set(id, Date.now());
  }

  async all(): Promise<ReadonlyMap<string, string>> {
    // Copied first, because a write may end while the store is read.
    const seen = [...this.#seenAtMs];
    const all = new Map(await this.#store.lastUses());
    for (const [id, atMs] of seen) all.set(id, later(all.get(id), this.#timestampOf(atMs)));
    return all;
  }

  /** Writes the uses since the last write to the store. If this fails, the next write includes them. */
  write(): Promise<void> {
    this.#writing ??= awaitedLater(
      this.#writeOnce().finally(() => {
        this.#writing = undefined;
      }),
    );
    return this.#writing;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.write();
  }

  async #writeOnce(): Promise<void> {
    const seen = [...this.#seenAtMs];
    if (seen.length === 0) return;
    try {
      await this.#store.noteUses(new Map(seen.map(([id, atMs]) => [id, this.#timestampOf(atMs)])));
      for (const [id, atMs] of seen) if (this.#seenAtMs.get(id) === atMs) this.#seenAtMs.delete(id);
    } catch {
      // Failed writes are not reported here, because the caller monitors the store and reports its faults.
    }
  }
}

const later = (one: string | undefined, other: string): string =>
  one !== undefined && one > other ? one : other;
