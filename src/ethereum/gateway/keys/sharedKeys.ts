import {
  type ApiKey,
  type KeyStore,
  KeysUnknown,
  type Revocation,
  type StoredKey,
  TooManyKeys,
} from './keyStore.ts';

/** How long a key is believed while where it is kept is away: it may have been revoked meanwhile. */
const BELIEVED_MS = 5 * 60_000;
/** They are all in memory: some 5 MB. */
const MAX_KEYS = 10_000;

/** Where gateways keep keys together: all are in memory, by the hash of their secret. */
export interface KeyRecords {
  /** How long ago what is known here was that of the store. */
  readonly ageMs: number;
  /** Whether there ever was one, as far as is known here. */
  readonly hadAny: boolean;
  /** Another map after each change. */
  all(): ReadonlyMap<string, unknown>;
  refresh(): Promise<void>;
  /** Durable when it resolves; `decide` may be asked more than once. */
  change(secretHash: string, decide: (stored: unknown) => unknown): Promise<unknown>;
}

/** API keys that gateways share. Only this class writes the records, so they are keys. */
export class SharedKeys implements KeyStore {
  readonly #records: KeyRecords;
  #listed: { readonly of: ReadonlyMap<string, unknown>; readonly keys: ApiKey[] } | undefined;

  constructor(records: KeyRecords) {
    this.#records = records;
  }

  /**
   * Where no key was ever known nothing is refused, however long ago that was so: whoever is open stays open. A store that comes back
   * without its keys opens nobody.
   */
  isEmpty(): boolean {
    return !this.#records.hadAny;
  }

  find(secretHash: string): ApiKey | undefined {
    if (this.#records.ageMs > BELIEVED_MS) throw new KeysUnknown();
    return this.#all().get(secretHash);
  }

  list(): ApiKey[] {
    const all = this.#all();
    if (this.#listed?.of !== all) {
      const keys = [...all.values()].sort((a, b) => (a.createdOn < b.createdOn ? -1 : 1));
      this.#listed = { of: all, keys };
    }
    return [...this.#listed.keys];
  }

  entries(): StoredKey[] {
    return [...this.#all()].map(([secretHash, key]) => ({ secretHash, key }));
  }

  async add(secretHash: string, key: ApiKey): Promise<void> {
    if (this.#all().size >= MAX_KEYS)
      throw new TooManyKeys(
        MAX_KEYS,
        `there are ${MAX_KEYS} API keys, revoked ones among them, which is the most that gateways can share`,
      );
    await this.#records.change(secretHash, (stored) => (stored === undefined ? key : undefined));
  }

  async revoke(id: string, revocation: Revocation): Promise<ApiKey | undefined> {
    // Another instance may have made it just now.
    await this.#records.refresh();
    const found = this.entries().find(({ key }) => key.id === id);
    if (found === undefined) return undefined;
    const revoked = await this.#records.change(found.secretHash, (stored) => {
      const key = stored as ApiKey | undefined; // see the class
      return key === undefined || key.revokedOn !== undefined ? undefined : { ...key, ...revocation };
    });
    return revoked as ApiKey | undefined; // see the class
  }

  /** Takes over keys of another store. Those that are known stay, but for those that are revoked there. */
  async takeOver(stored: readonly StoredKey[]): Promise<number> {
    let taken = 0;
    for (const { secretHash, key } of stored) {
      const known = this.#all().get(secretHash);
      if (known !== undefined && (known.revokedOn !== undefined || key.revokedOn === undefined)) continue;
      if (known === undefined) await this.add(secretHash, key);
      else await this.#records.change(secretHash, () => key);
      taken++;
    }
    return taken;
  }

  #all(): ReadonlyMap<string, ApiKey> {
    return this.#records.all() as ReadonlyMap<string, ApiKey>; // see the class
  }
}
