import {
  type ApiKey,
  type KeyStore,
  KeysUnavailableError,
  type Revocation,
  type StoredKey,
  TooManyKeys,
} from './keyStore.ts';

/**
 * Age of the records from which their store counts as away. It exceeds the interval of polls. An unknown key may then
 * be a new one, so it is not rejected as invalid.
 */
const AWAY_MS = 3_000;
/** Maximum number of API keys. All of them are kept in memory and use about 5 MB. */
const MAX_KEYS = 10_000;

/** Records of the API keys that several gateways share. All records are kept in memory, by the hash of their secret. */
export interface KeyRecords {
  /** Time since the records were last compared with the store, in milliseconds; infinite if they are unknown. */
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
  readonly #graceMs: number;
  #listed: { readonly of: ReadonlyMap<string, unknown>; readonly keys: ApiKey[] } | undefined;

  /** `graceMs`: how long known keys stay valid while their store is away. A revocation may be delayed by this time. */
  constructor(records: KeyRecords, graceMs = Number.POSITIVE_INFINITY) {
    this.#records = records;
    this.#graceMs = graceMs;
  }

  /**
   * Returns true if no API key was ever known. A gateway without keys stays open while the store is unavailable, so the
   * age of the records does not matter. A store that loses its keys does not open the gateway. Throws
   * `KeysUnavailableError` if the store was never read.
   */
  isEmpty(): boolean {
    const { ageMs, hadAny } = this.#records;
    if (ageMs === Number.POSITIVE_INFINITY) throw new KeysUnavailableError();
    return !hadAny;
  }

  find(secretHash: string): ApiKey | undefined {
    const { ageMs } = this.#records;
    const key = this.#all().get(secretHash);
    const isSure = ageMs <= AWAY_MS || (key !== undefined && ageMs <= this.#graceMs);
    // A known revocation is final, so it does not depend on the age of the records.
    if (!isSure && key?.revokedOn === undefined) throw new KeysUnavailableError();
    return key;
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
