import { hash, randomBytes } from 'node:crypto';

const PREFIX = 'fg_';
/** 40 random characters: 238 bits. */
const RANDOM_CHARACTERS = 40;
/** So many more bits than a secret has that no character is likelier than another. */
export const SECRET_SEED_BYTES = 64;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A new secret, to be shown once and kept nowhere. */
export function newTokenSecret(): string {
  return tokenSecretOf(randomBytes(SECRET_SEED_BYTES));
}

/** The secret that so many random bytes make. */
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

/** SHA-256 of a secret: what is kept in its place. Fast is safe here, as secrets are random and long. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
