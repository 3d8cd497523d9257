import { hash, randomBytes } from 'node:crypto';

const PREFIX = 'fg_';
/** 40 random characters: 238 bits. */
const RANDOM_CHARACTERS = 40;
/** Random bytes per secret. With so many bits, the modulo bias of the secret's characters is negligible. */
export const SECRET_SEED_BYTES = 64;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Returns a new secret. It is shown once and never stored. */
export function newTokenSecret(): string {
  return tokenSecretOf(randomBytes(SECRET_SEED_BYTES));
}

/** Returns the secret derived from `SECRET_SEED_BYTES` random bytes. */
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

/** Returns the SHA-256 of a secret, which is stored instead. A fast hash is safe: secrets are long and random. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
