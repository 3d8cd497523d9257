import { createHmac, randomBytes } from 'node:crypto';
import { SECRET_SEED_BYTES } from '../../index.ts';

/**
 * Random bytes (seeds) from which the secrets of new tokens and keys are made. Secrets are not stored, so a repeated
 * create could not return the first secret. Therefore the seed of a request with a retry key is derived from that key
 * and a random key of this process. A repeated request then yields the same secret, by whose hash the store finds the
 * first token or key. A restart changes the random key.
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
