import { hash, randomInt } from 'node:crypto';

const PREFIX = 'fg_';
/** 40 random characters (decisions A): 238 bits. */
const RANDOM_CHARACTERS = 40;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A new secret, to be shown once and kept nowhere. */
export function newTokenSecret(): string {
  const characters = Array.from({ length: RANDOM_CHARACTERS }, () => alphabet[randomInt(alphabet.length)]);
  return PREFIX + characters.join('');
}

/** SHA-256 of a secret: what is kept in its place. Fast is safe here, as secrets are random and long. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
