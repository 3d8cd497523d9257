import {
  type ApiKey,
  type KeyStore,
  KeysUnavailableError,
  type Revocation,
  type StoredKey,
  TooManyKeys,
} from './keyStore.ts';

/** Milliseconds for which API keys stay valid while their store is down. A revocation may be delayed by this time. */
const BELIEVED_MS = 5 * 60_000;
/** Maximum number of API keys. All of them are kept in memory and use about 5 MB. */
const MAX_KEYS = 10_000;

/** Records of the API keys that several gateways share. All records are kept in memory, by the hash of their secret. */
export interface KeyRecords {
  /** Time since the records were last compared with the store, in milliseconds. */
  readonly ageMs: number;
  /** True if the store has ever contained an API key, as far as this process knows. */
  readonly hadAny: boolean;
  /** Returns all records. Each change creates a new map, so callers can compare maps by identity. */
  all(): ReadonlyMap<string, unknown>;
  refresh(): Promise<void>;
  /** Changes the record of one API key. Resolves when the change is durable. `decide` may be called more than once. */
  change(secretHash: string, decide: (stored: unknown) => unknown): Promise<unknown>;
}

/** API keys that several gateways share. Only this class writes the records, so each record is a valid ApiKey. */
export class SharedKeys implements KeyStore {
  readonly #records: KeyRecords;
  #listed: { readonly of: ReadonlyMap<string, unknown>; readonly keys: ApiKey[] } | undefined;

  constructor(records: KeyRecords) {
    this.#records = records;
  }

  /**
   * Returns true if no API key was ever known. A gateway without keys stays open while the store is unavailable, so the
   * age of the records does not matter. A store that loses its keys does not open the gateway.
   */
  isEmpty(): boolean {
    return !this.#records.hadAny;
  }

  find(secretHash: string): ApiKey | undefined {
    if (this.#records.ageMs > BELIEVED_MS) throw new KeysUnavailableError();
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
        `there are ${MAX_KEYS} API keys, including revoked ones: the maximum that gateways can share`,
      );
    await this.#records.change(secretHash, (stored) => (stored === undefined ? key : undefined));
  }

  async revoke(id: string, revocation: Revocation): Promise<ApiKey | undefined> {
    // Another gateway may have created the key since the last refresh.
    await this.#records.refresh();
    const found = this.entries().find(({ key }) => key.id === id);
    if (found === undefined) return undefined;
    const revoked = await this.#records.change(found.secretHash, (stored) => {
      const key = stored as ApiKey | undefined; // SharedKeys writes only records of type ApiKey
      return key === undefined || key.revokedOn !== undefined ? undefined : { ...key, ...revocation };
    });
    return revoked as ApiKey | undefined; // SharedKeys writes only records of type ApiKey
  }

  /** Imports keys and returns how many. An existing key is replaced only if the imported one was revoked. */
  async importKeys(stored: readonly StoredKey[]): Promise<number> {
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
    return this.#records.all() as ReadonlyMap<string, ApiKey>; // SharedKeys writes only records of type ApiKey
  }
}
