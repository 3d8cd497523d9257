import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Token } from './token.ts';

/** Sign-in of a browser to the console, or a link that can be exchanged for one. Its secret is not stored. */
export interface Session {
  /** SHA-256 of the secret in the cookie or in the link, 64 hex digits. */
  readonly hash: string;
  readonly isLink: boolean;
  /** Token that signed in. The session ends with it. */
  readonly token: Pick<Token, 'id' | 'hash'> & { readonly root: string };
  readonly created_on: string;
  readonly expires_on: string;
  /** Address of the client that signed in. */
  readonly from: string;
  /** API key for the gateway, encrypted with the secret of the session. */
  readonly key?: string | undefined;
}

/** Store of sessions, beside the tokens. A write is durable when its promise resolves. It has no audit entry. */
export interface SessionStore {
  /** Returns the session or link with this hash, even if it has expired. */
  find(hash: string): Promise<Session | undefined>;
  /** Returns all sessions and links, including expired ones, in order of creation. */
  list(): Promise<readonly Session[]>;
  /** Adds a session or link. Removes expired ones, and the oldest ones above a limit: see `displacedBy`. */
  add(session: Session): Promise<void>;
  /** Replaces the API key of a session. Has no effect if the session no longer exists. */
  setKey(hash: string, key: string | undefined): Promise<void>;
  /** Removes a session or link and returns it. If several calls remove it, only one of them returns it. */
  remove(hash: string): Promise<Session | undefined>;
}

export const MAX_SESSIONS = 1_000;
const MAX_SESSIONS_OF_TOKEN = 20;

/**
 * Returns the stored sessions that must be removed before `added` is stored: expired ones, and the oldest ones of the
 * token above its limit. If the total is reached, also the oldest ones of the tree of tokens with the most sessions.
 * Links have limits of their own. `stored` is in order of creation.
 */
export function displacedBy(added: Session, stored: readonly Session[]): Session[] {
  const gone = new Set(stored.filter(({ expires_on }) => expires_on <= added.created_on));
  const left = () => stored.filter((one) => one.isLink === added.isLink && !gone.has(one));
  const ofToken = left().filter(({ token }) => token.id === added.token.id);
  for (const one of ofToken.slice(0, Math.max(0, ofToken.length + 1 - MAX_SESSIONS_OF_TOKEN))) gone.add(one);
  for (let valid = left(); valid.length >= MAX_SESSIONS; valid = left()) {
    const ofTree = new Map<string, Session[]>();
    for (const one of valid) ofTree.set(one.token.root, [...(ofTree.get(one.token.root) ?? []), one]);
    const [largest = []] = [...ofTree.values()].sort((a, b) => b.length - a.length);
    for (const oldest of largest.slice(0, 1)) gone.add(oldest);
  }
  return [...gone];
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts a text, so that only the holder of the secret of a session can read it. */
export function seal(secret: string, text: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, cipherKeyOf(secret), iv);
  const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), bytes]).toString('base64');
}

/** Decrypts a text from `seal`. Throws if the secret is another one. */
export function unseal(secret: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv(CIPHER, cipherKeyOf(secret), bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}

const cipherKeyOf = (secret: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', 'floodgate console session', 32));
