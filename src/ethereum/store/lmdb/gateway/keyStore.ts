import type { Database, RootDatabase } from 'lmdb';
import type { StoreFile } from '../../../../platform/storeFile/index.ts';
import {
  type ApiKey,
  isGood,
  type KeyStore,
  type Revocation,
  type StoredKey,
  TooManyKeys,
} from '../../../gateway/index.ts';
import type { GatewayFile } from './answerStore.ts';

/** Maximum number of API keys that are valid at the same time. */
const MAX_KEYS = 1_000;

/** Stores API keys in LMDB. The database key of an API key is the hash of its secret. */
export class GatewayKeys implements KeyStore {
  readonly #root: RootDatabase;
  readonly #file: StoreFile;
  readonly #keys: Database<ApiKey, string>;
  readonly #uses: Database<string, string>;

  constructor({ root, file }: GatewayFile) {
    this.#root = root;
    this.#file = file;
    this.#keys = root.openDB({ name: 'keys', encoding: 'json' });
    this.#uses = root.openDB({ name: 'keyUses', encoding: 'json' });
  }

  isEmpty(): boolean {
    for (const _ of this.#keys.getKeys({ limit: 1 })) return false;
    return true;
  }

  find(secretHash: string): ApiKey | undefined {
    return this.#keys.get(secretHash);
  }

  list(): ApiKey[] {
    return [...this.#keys.getRange()]
      .map(({ value }) => value)
      .sort((a, b) => (a.createdOn < b.createdOn ? -1 : 1));
  }

  entries(): StoredKey[] {
    return [...this.#keys.getRange()].map(({ key, value }) => ({ secretHash: key, key: value }));
  }

  async add(secretHash: string, key: ApiKey): Promise<void> {
    const add = (): boolean => {
      if (this.#keys.doesExist(secretHash)) return true;
      const good = [...this.#keys.getRange()].filter(({ value }) => isGood(value)).length;
      if (good >= MAX_KEYS) return false;
      this.#keys.putSync(secretHash, key);
      return true;
    };
    if (!(await this.#commit(add)))
      throw new TooManyKeys(MAX_KEYS, `${MAX_KEYS} keys are valid, which is the maximum; revoke one first`);
    await this.#root.flushed;
  }

  async replaceAll(keys: readonly StoredKey[]): Promise<void> {
    const replace = (): void => {
      this.#keys.clearSync();
      for (const { secretHash, key } of keys) this.#keys.putSync(secretHash, key);
    };
    await this.#commit(replace);
    await this.#root.flushed;
  }

  /** Returns the time at which each API key was last used, by the id of the key. */
  async lastUses(): Promise<ReadonlyMap<string, string>> {
    return new Map([...this.#uses.getRange()].map(({ key, value }) => [key, value]));
  }

  async noteUses(uses: ReadonlyMap<string, string>): Promise<void> {
    await this.#commit(() => {
      for (const [id, usedOn] of uses)
        if (usedOn > (this.#uses.get(id) ?? '')) this.#uses.putSync(id, usedOn);
    });
  }

  async revoke(id: string, revocation: Revocation): Promise<ApiKey | undefined> {
    const change = (): ApiKey | undefined => {
      for (const { key, value } of this.#keys.getRange()) {
        if (value.id !== id) continue;
        const changed = value.revokedOn === undefined ? { ...value, ...revocation } : value;
        this.#keys.putSync(key, changed);
        return changed;
      }
      return undefined;
    };
    const revoked = await this.#commit(change);
    await this.#root.flushed;
    return revoked;
  }

  #commit<T>(change: () => T): Promise<T> {
    return this.#file.commit(() => this.#root.transaction(change));
  }
}
