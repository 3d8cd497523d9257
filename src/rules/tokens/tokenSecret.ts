import { hash, randomBytes } from 'node:crypto';

const PREFIX = 'fg_';
/** Number of random characters in a secret. 40 characters of 62 letters and digits have 238 bits. */
const RANDOM_CHARACTERS = 40;
/** Number of random bytes that yield a secret. With so many, the modulo bias of its characters is negligible. */
export const SECRET_SEED_BYTES = 64;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Returns a new token secret. The secret is shown to the user one time, and only its hash is stored. */
export function newTokenSecret(): string {
  return tokenSecretOf(randomBytes(SECRET_SEED_BYTES));
}

/** Returns the token secret that is derived from `SECRET_SEED_BYTES` random bytes. */
export function tokenSecretOf(seed: Buffer): string {
  let rest = BigInt(`0x${seed.toString('hex')}`);
  const base = BigInt(alphabet.length);
  let characters = '';
  for (let i = 0; i < RANDOM_CHARACTERS; i++) {
    characters += alphabet[Number(rest % base)];
    rest /= base;
  }
  return PREFIX + characters;
}

/** Number of hex digits of a configured token's id: enough for the few tokens that ever appear in one audit log. */
const CONFIGURED_ID_DIGITS = 16;

/**
 * Returns the id of a token from the configuration, which no store contains: a hash of the hash of its secret. All
 * processes and servers derive the same id from the same token.
 */
export function configuredTokenId(secretHash: Buffer): string {
  const text = `floodgate configured token ${secretHash.toString('hex')}`;
  return `configured:${hash('sha256', text, 'hex').slice(0, CONFIGURED_ID_DIGITS)}`;
}

/** Returns the SHA-256 of a secret, which is stored instead of it. A fast hash is safe for a long random secret. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
