/** An API key as it is kept: its secret part only as a hash. */
export interface ApiKey {
  /** Names the key in lists and commands; no secret. */
  readonly id: string;
  /** What its owner calls it. */
  readonly name: string;
  /** Calls per second; undefined for no limit of its own. */
  readonly ratePerSecond?: number;
  /** Methods that it may call; undefined for all that are served. */
  readonly methods?: readonly string[];
  readonly createdOn: string;
  readonly revokedOn?: string;
  /** Who did so: `cli:` and a user. Unknown of what an older version did. */
  readonly createdBy?: string;
  readonly revokedBy?: string;
}

/** When, and who did it. */
export type Revocation = Required<Pick<ApiKey, 'revokedOn' | 'revokedBy'>>;

/** A key and the hash that it is found by. */
export interface StoredKey {
  readonly secretHash: string;
  readonly key: ApiKey;
}

/** It is not known any more which keys are good: where they are kept has been away for too long. */
export class KeysUnknown extends Error {
  override readonly name = 'KeysUnknown';

  constructor() {
    super('API keys cannot be checked now: where they are kept is away; try again later');
  }
}

/** Keeps API keys. Another process may change them at any time. */
export interface KeyStore {
  /** Whether a key was ever created: then requests need one. */
  isEmpty(): boolean;
  /** The key whose secret has this hash, revoked or not. Throws `KeysUnknown`. */
  find(secretHash: string): ApiKey | undefined;
  /** By `createdOn`. */
  list(): ApiKey[];
  /** All of them with their hashes, in any order. */
  entries(): StoredKey[];
  /** Durable when it resolves. */
  add(secretHash: string, key: ApiKey): Promise<void>;
  /** Revokes the key of an id; resolves with it, or undefined where there is none. Durable when it resolves. */
  revoke(id: string, revocation: Revocation): Promise<ApiKey | undefined>;
}
