import { createHmac, randomBytes } from 'node:crypto';
import { SECRET_SEED_BYTES } from '../../index.ts';

/**
 * Creates the seeds (random bytes) of the secrets of tokens and keys. Secrets are not stored, so a repeated creation
 * could not return the first secret. Therefore the seed of a request with a retry key is derived from that key and a
 * random key of this process. A repeated request yields the same secret, by whose hash the store finds the first
 * token or key. After a restart, the random key is another one.
 */
export class SecretSeeds {
  readonly #key = randomBytes(SECRET_SEED_BYTES);

  of(what: 'token' | 'key', callerId: string, retryKey: string | undefined): Buffer {
    if (retryKey === undefined) return randomBytes(SECRET_SEED_BYTES);
    return createHmac('sha512', this.#key)
      .update(JSON.stringify([what, callerId, retryKey]))
      .digest();
  }
}
