import { createHash, randomBytes } from 'node:crypto';
import { type ApiKey, isGood, type KeyStore, KeysUnknown } from './keyStore.ts';

/** Of a secret, how many random bytes: 40 characters of base64url. */
const SECRET_BYTES = 30;
const PREFIX = 'fgk_';
/** No longer text is hashed. */
const MAX_SECRET_LENGTH = 100;

/** A new secret; it is shown once and never kept. It is made of random bytes, at least thirty. */
export const newSecret = (random: Buffer = randomBytes(SECRET_BYTES)): string =>
  PREFIX + random.subarray(0, SECRET_BYTES).toString('base64url');

/** The form in which a secret is kept: it is random, so a plain hash says nothing of it. */
export const hashOfSecret = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** What a request may do. */
export type Access =
  | { readonly isGranted: true; readonly key: ApiKey | undefined }
  | { readonly isGranted: false; readonly reason: string; readonly isUnknown?: true };

const OPEN: Access = { isGranted: true, key: undefined };

/** While there are no keys, the store is asked for them this often: the first key closes the gateway within it. */
const EMPTY_RECHECK_MS = 500;

/**
 * Tells whose request it is: the gateway is open until a first key is created, and needs one from then on, even when all
 * of them are revoked. The key comes as `Authorization: Bearer` or as `?key=`.
 */
export class Authenticator {
  readonly #store: KeyStore;
  #isOpen = true;
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(store: KeyStore) {
    this.#store = store;
  }

  access(authorization: string | undefined, queryKey: string | null | undefined): Access {
    if (this.#isOpenNow()) return OPEN;
    const secret = secretOf(authorization, queryKey);
    if (secret === undefined)
      return denied('an API key is required: send it as "Authorization: Bearer KEY" or as ?key=KEY');
    try {
      const key = secret.length > MAX_SECRET_LENGTH ? undefined : this.#store.find(hashOfSecret(secret));
      if (key === undefined || !isGood(key)) return denied('the API key is unknown, revoked or expired');
      return { isGranted: true, key };
    } catch (error) {
      if (!(error instanceof KeysUnknown)) throw error;
      return { ...denied(error.message), isUnknown: true };
    }
  }

  #isOpenNow(): boolean {
    const nowMs = performance.now();
    if (this.#isOpen && nowMs - this.#checkedAtMs > EMPTY_RECHECK_MS) {
      this.#isOpen = this.#store.isEmpty();
      this.#checkedAtMs = nowMs;
    }
    return this.#isOpen;
  }
}

const denied = (reason: string) => ({ isGranted: false, reason }) as const;

function secretOf(
  authorization: string | undefined,
  queryKey: string | null | undefined,
): string | undefined {
  const bearer = authorization === undefined ? undefined : /^bearer +(\S+)$/i.exec(authorization)?.[1];
  return bearer ?? (queryKey || undefined);
}
