/** How often what was seen is written: a use is told of at most so late after a kill, and never after a stop. */
const WRITE_MS = 60_000;
/** Seen at one time; a store has far fewer that are valid. */
const MAX_SEEN = 10_000;

/** Where moments of use are kept. */
export interface UseStore {
  lastUses(): Promise<ReadonlyMap<string, string>>;
  noteUses(uses: ReadonlyMap<string, string>): Promise<void>;
}

export interface LastUsesOptions {
  /** How the store writes a moment: in text that sorts as moments do. */
  readonly timestampOf: (atMs: number) => string;
  readonly writeMs?: number;
}

/** When each of something was used last, by id: seen here, written once a minute. */
export class LastUses {
  readonly #store: UseStore;
  readonly #timestampOf: LastUsesOptions['timestampOf'];
  readonly #seenAtMs = new Map<string, number>();
  readonly #writtenAtMs = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> | undefined;

  constructor({ timestampOf, writeMs = WRITE_MS }: LastUsesOptions, store: UseStore) {
    this.#store = store;
    this.#timestampOf = timestampOf;
    this.#timer = setInterval(() => void this.write(), writeMs).unref();
  }

  used(id: string): void {
    if (this.#seenAtMs.size < MAX_SEEN || this.#seenAtMs.has(id)) this.#seenAtMs.set(id, Date.now());
  }

  /** By id, as the store writes them. */
  async all(): Promise<ReadonlyMap<string, string>> {
    const all = new Map(await this.#store.lastUses());
    for (const [id, atMs] of this.#seenAtMs) all.set(id, later(all.get(id), this.#timestampOf(atMs)));
    return all;
  }

  /** Writes what was seen since it was written last. What cannot be written now is written later. */
  write(): Promise<void> {
    this.#writing ??= this.#writeOnce().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.write();
  }

  async #writeOnce(): Promise<void> {
    const seen = [...this.#seenAtMs].filter(([id, atMs]) => this.#writtenAtMs.get(id) !== atMs);
    if (seen.length === 0) return;
    try {
      await this.#store.noteUses(new Map(seen.map(([id, atMs]) => [id, this.#timestampOf(atMs)])));
      for (const [id, atMs] of seen) this.#writtenAtMs.set(id, atMs);
    } catch {
      // A store that takes no writes is told of by whoever watches it.
    }
  }
}

const later = (one: string | undefined, other: string): string =>
  one !== undefined && one > other ? one : other;
