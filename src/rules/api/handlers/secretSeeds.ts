import { createHmac, randomBytes } from 'node:crypto';
import { SECRET_SEED_BYTES } from '../../index.ts';

/**
 * Seeds of new secrets. Secrets are not stored, so a repeated create could not return the secret again. With a retry
 * key, the seed is therefore derived with a key of this process, and the store finds the first token or key by the
 * secret's hash. A restart changes the key.
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
