import { createHash, randomBytes } from 'node:crypto';
import { type ApiKey, isGood, type KeyStore, KeysUnavailableError } from './keyStore.ts';

/** Number of random bytes of a secret. In base64url they have 40 characters. */
const SECRET_BYTES = 30;
export const SECRET_PREFIX = 'fgk_';
/** Maximum length of a secret. Longer secrets are rejected without computing their hash. */
const MAX_SECRET_LENGTH = 100;

/** Returns a new secret, made from the first 30 bytes of `random`. The secret is shown once and never stored. */
export const newSecret = (random: Buffer = randomBytes(SECRET_BYTES)): string =>
  SECRET_PREFIX + random.subarray(0, SECRET_BYTES).toString('base64url');

/** Returns the hash under which a secret is stored. It needs no salt, because secrets are random. */
export const hashOfSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');

export type Access =
  | { readonly isGranted: true; readonly key: ApiKey | undefined }
  | { readonly isGranted: false; readonly reason: string; readonly isUnknown?: true };

export type Credential = string | undefined;

/** Credential of a request whose secret is too long to be valid. It is not the hash of any secret. */
const TOO_LONG = '';
/** Credential of a request that contains different secrets. It is not the hash of any secret. */
const SEVERAL = 'several';

const OPEN: Access = { isGranted: true, key: undefined };

/** Interval in milliseconds at which the store is checked for a first API key. */
const EMPTY_RECHECK_MS = 500;

/**
 * Authenticates requests. The gateway is open until the first API key is created, and then requires a key, even if all
 * keys are revoked.
 */
export class Authenticator {
  readonly #store: KeyStore;
  #isOpen = true;
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(store: KeyStore) {
    this.#store = store;
  }

  accessBy(credential: Credential): Access {
    return this.isOpen() ? OPEN : this.#accessBy(credential);
  }

  /** Returns true if no credential is needed. */
  isOpen(): boolean {
    const nowMs = performance.now();
    if (!this.#isOpen || nowMs - this.#checkedAtMs <= EMPTY_RECHECK_MS) return this.#isOpen;
    try {
      this.#isOpen = this.#store.isEmpty();
      this.#checkedAtMs = nowMs;
      return this.#isOpen;
    } catch (error) {
      if (!(error instanceof KeysUnavailableError)) throw error;
      return false;
    }
  }

  #accessBy(credential: Credential): Access {
    if (credential === SEVERAL)
      return denied(
        'the request contains different API keys in Authorization, X-API-Key, the query string or the path; send one',
      );
    try {
      if (credential === undefined) return this.#withoutKey();
      const key = credential === TOO_LONG ? undefined : this.#store.find(credential);
      if (key === undefined || !isGood(key)) return denied('the API key is unknown, revoked or expired');
      return { isGranted: true, key };
    } catch (error) {
      if (!(error instanceof KeysUnavailableError)) throw error;
      return { ...denied(error.message), isUnknown: true };
    }
  }

  /** Returns the access of a request without a key. Throws `KeysUnavailableError` if it is unknown whether one is needed. */
  #withoutKey(): Access {
    this.#store.isEmpty();
    return denied(
      'an API key is required: send it as "Authorization: Bearer KEY", as "X-API-Key: KEY", as ?key=KEY, or in the path after the network',
    );
  }
}

/** API keys of a request, by the part of the request that contains them. A request needs only one. */
export interface SentSecrets {
  readonly authorization: string | undefined;
  readonly apiKeyHeader: string | undefined;
  readonly ofQuery: readonly string[];
  readonly ofPath: string | undefined;
}

export function credentialOf({ authorization, apiKeyHeader, ofQuery, ofPath }: SentSecrets): Credential {
  const bearer = authorization === undefined ? undefined : /^bearer +(\S+)$/i.exec(authorization)?.[1];
  let secret: string | undefined;
  for (const sent of [bearer, apiKeyHeader, ofPath, ...ofQuery]) {
    if (sent === undefined || sent === '') continue;
    // A gateway that chose one of several keys could count calls for another client than a proxy in front of it.
    if (secret !== undefined && sent !== secret) return SEVERAL;
    secret = sent;
  }
  if (secret === undefined) return undefined;
  return secret.length > MAX_SECRET_LENGTH ? TOO_LONG : hashOfSecret(secret);
}

const denied = (reason: string) => ({ isGranted: false, reason }) as const;
