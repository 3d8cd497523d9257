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
  /** Until when it is good; undefined for ever. */
  readonly expiresOn?: string;
  readonly revokedOn?: string;
  /** Who did so: the id of a token, or `cli:` and a user. Unknown of what an older version did. */
  readonly createdBy?: string;
  readonly revokedBy?: string;
  /** From where: the address of a client, or `local`. */
  readonly createdFrom?: string;
  readonly revokedFrom?: string;
}

/** When, who did it, and from where. */
export type Revocation = Required<Pick<ApiKey, 'revokedOn' | 'revokedBy'>> & Pick<ApiKey, 'revokedFrom'>;

/** There are as many keys as there may be. */
export class TooManyKeys extends Error {
  override readonly name = 'TooManyKeys';
  readonly max: number;

  constructor(max: number, message: string) {
    super(message);
    this.max = max;
  }
}

/** Whether a key may be used now. */
export const isGood = ({ revokedOn, expiresOn }: Pick<ApiKey, 'revokedOn' | 'expiresOn'>): boolean =>
  revokedOn === undefined && (expiresOn === undefined || Date.parse(expiresOn) > Date.now());

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
  /** Durable when it resolves. What has this hash already stays as it is. Throws `TooManyKeys`. */
  add(secretHash: string, key: ApiKey): Promise<void>;
  /** Revokes the key of an id; resolves with it, or undefined where there is none. Durable when it resolves. */
  revoke(id: string, revocation: Revocation): Promise<ApiKey | undefined>;
}
