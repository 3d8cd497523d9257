import { randomBytes } from 'node:crypto';
import {
  formatTimestamp,
  hashSecret,
  type Micros,
  type Session,
  type SessionStore,
  seal,
  unseal,
  wallClock,
} from '../../index.ts';
import type { SessionCookies } from './sessionCookies.ts';

export interface ConsoleSessionsDependencies {
  readonly store: SessionStore;
  readonly cookies: SessionCookies;
}

const SECRET_BYTES = 32;
export const SESSION_LIFE_SECONDS = 12 * 60 * 60;
const LINK_LIFE_SECONDS = 10 * 60;
const MICROS_PER_SECOND = 1_000_000;

/** Opens, finds and ends the sessions of the console. Only the cookie of a session contains its secret. */
export class ConsoleSessions {
  readonly cookies: SessionCookies;
  readonly #store: SessionStore;
  readonly #now: () => Micros;

  constructor(
    { now = wallClock }: { readonly now?: () => Micros },
    { store, cookies }: ConsoleSessionsDependencies,
  ) {
    this.cookies = cookies;
    this.#store = store;
    this.#now = now;
  }

  /** Returns the valid session with this secret; undefined if there is none. */
  async find(secret: string): Promise<Session | undefined> {
    const session = await this.#store.find(hashOf(secret));
    return session !== undefined && !session.isLink && this.#isValid(session) ? session : undefined;
  }

  /** Returns the valid sessions in order of creation. */
  async list(): Promise<readonly Session[]> {
    return (await this.#store.list()).filter((one) => !one.isLink && this.#isValid(one));
  }

  /** Opens a session for a token, and returns its secret. */
  open(token: Session['token'], from: string): Promise<string> {
    return this.#add({ token, from, isLink: false }, SESSION_LIFE_SECONDS);
  }

  /** Returns the code of a new sign-in link, which can be exchanged once, within ten minutes. */
  newLink(token: Session['token'], from: string): Promise<string> {
    return this.#add({ token, from, isLink: true }, LINK_LIFE_SECONDS);
  }

  /** Removes a sign-in link, and returns its token. Returns undefined if the link is not valid. */
  async takeLink(code: string): Promise<Session['token'] | undefined> {
    const found = await this.#store.find(hashOf(code));
    if (!found?.isLink) return undefined;
    const link = await this.#store.remove(found.hash);
    return link !== undefined && this.#isValid(link) ? link.token : undefined;
  }

  async end(secret: string): Promise<void> {
    await this.remove(hashOf(secret));
  }

  async remove(hash: string): Promise<void> {
    await this.#store.remove(hash);
  }

  /** Stores the API key with which the console calls the gateway, encrypted with the secret. */
  setKey(secret: string, key: string | undefined): Promise<void> {
    return this.#store.setKey(hashOf(secret), key === undefined ? undefined : seal(secret, key));
  }

  keyOf({ key }: Session, secret: string): string | undefined {
    return key === undefined ? undefined : unseal(secret, key);
  }

  async #add(session: Pick<Session, 'token' | 'from' | 'isLink'>, lifeSeconds: number): Promise<string> {
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const now = this.#now();
    const expires_on = formatTimestamp(now + lifeSeconds * MICROS_PER_SECOND);
    await this.#store.add({ hash: hashOf(secret), ...session, created_on: formatTimestamp(now), expires_on });
    return secret;
  }

  #isValid({ expires_on }: Session): boolean {
    return expires_on > formatTimestamp(this.#now());
  }
}

const hashOf = (secret: string): string => hashSecret(secret).toString('hex');
