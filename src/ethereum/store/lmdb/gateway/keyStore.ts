import type { Database, RootDatabase } from 'lmdb';
import { committed } from '../../../../platform/storeFile/index.ts';
import type { ApiKey, KeyStore, Revocation, StoredKey } from '../../../gateway/index.ts';

/** API keys in LMDB, under the hash of their secret. */
export class GatewayKeys implements KeyStore {
  readonly #root: RootDatabase;
  readonly #keys: Database<ApiKey, string>;

  constructor(root: RootDatabase) {
    this.#root = root;
    this.#keys = root.openDB({ name: 'keys', encoding: 'json' });
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
    await committed(this.#keys.put(secretHash, key));
    await this.#root.flushed;
  }

  /** Puts these in place of all that there are. */
  async replaceAll(keys: readonly StoredKey[]): Promise<void> {
    const replaced = this.#root.transaction(() => {
      this.#keys.clearSync();
      for (const { secretHash, key } of keys) this.#keys.putSync(secretHash, key);
    });
    await committed(replaced);
    await this.#root.flushed;
  }

  async revoke(id: string, revocation: Revocation): Promise<ApiKey | undefined> {
    const change = this.#root.transaction(() => {
      for (const { key, value } of this.#keys.getRange()) {
        if (value.id !== id) continue;
        const changed = value.revokedOn === undefined ? { ...value, ...revocation } : value;
        this.#keys.putSync(key, changed);
        return changed;
      }
      return undefined;
    });
    const revoked = await committed(change);
    await this.#root.flushed;
    return revoked;
  }
}
