import type { CallLimits } from '../callLimits.ts';

/** API key as stored. The store contains only the hash of its secret. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** Maximum calls per second with this API key. Undefined: no limit per key. */
  readonly ratePerSecond?: number;
  /** Methods that the API key may call. Undefined: all served methods. */
  readonly methods?: readonly string[];
  /** Limits of calls with this API key. Undefined members: the limits of the server. */
  readonly limits?: Partial<CallLimits>;
  readonly createdOn: string;
  readonly expiresOn?: string;
  readonly revokedOn?: string;
  /** Creator: the id of a token for the rules API, or `cli:` and a user name. Undefined for keys of older versions. */
  readonly createdBy?: string;
  readonly revokedBy?: string;
  /** Origin of the command that created the API key: a client address, or `local`. */
  readonly createdFrom?: string;
  readonly revokedFrom?: string;
}

export type Revocation = Required<Pick<ApiKey, 'revokedOn' | 'revokedBy'>> & Pick<ApiKey, 'revokedFrom'>;

/** Thrown when a key is added above the maximum number of API keys. */
export class TooManyKeys extends Error {
  override readonly name = 'TooManyKeys';
  readonly max: number;

  constructor(max: number, message: string) {
    super(message);
    this.max = max;
  }
}

/** Returns true if an API key is neither revoked nor expired. */
export const isGood = ({ revokedOn, expiresOn }: Pick<ApiKey, 'revokedOn' | 'expiresOn'>): boolean =>
  revokedOn === undefined && (expiresOn === undefined || Date.parse(expiresOn) > Date.now());

export interface StoredKey {
  readonly secretHash: string;
  readonly key: ApiKey;
}

/** Thrown when API keys cannot be verified, because their store is unavailable. */
export class KeysUnavailableError extends Error {
  override readonly name = 'KeysUnavailableError';

  constructor() {
    super('API keys cannot be checked now: their store is unavailable; try again later');
  }
}

/** Store of API keys. Other processes may change the store at any time. */
export interface KeyStore {
  /**
   * Returns true until the first API key is created. A gateway without keys requires no authentication. Throws
   * `KeysUnavailableError`.
   */
  isEmpty(): boolean;
  /** Returns the API key with this secret hash, even if the key is revoked. Throws `KeysUnavailableError`. */
  find(secretHash: string): ApiKey | undefined;
  list(): ApiKey[];
  /** Returns all API keys with the hashes of their secrets, in any order. */
  entries(): StoredKey[];
  /** Adds a key, unless one with this hash exists. Resolves when the change is durable. Throws `TooManyKeys`. */
  add(secretHash: string, key: ApiKey): Promise<void>;
  /** Revokes a key by its id. Resolves with the key when the change is durable, or undefined if there is none. */
  revoke(id: string, revocation: Revocation): Promise<ApiKey | undefined>;
}
