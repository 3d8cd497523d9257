import { createHmac, randomBytes } from 'node:crypto';
import { SECRET_SEED_BYTES } from '../index.ts';

/**
 * What new secrets are made of. They are kept nowhere, so that a create that is sent again could not be answered as the first
 * one was. With a retry key the secret is therefore derived, by a key that this process alone has and forgets when it ends: the
 * same caller gets the same secret for the same retry key, and the store finds by its hash what was made of it.
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
