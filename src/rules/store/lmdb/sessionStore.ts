import { displacedBy, type Session, type SessionStore } from '../../index.ts';
import type { RulesEnvironment } from './environment.ts';
import type { Write } from './groupCommit.ts';

/** Sessions are bounded in number and size, so they may be written even if the disk is full: operators must sign in. */
const EVEN_IF_FULL = { makesRoom: true };

/** Sessions of the console in LMDB, keyed by the hash of their secret. */
export class LmdbSessionStore implements SessionStore {
  readonly #environment: RulesEnvironment;

  constructor(environment: RulesEnvironment) {
    this.#environment = environment;
  }

  async find(hash: string): Promise<Session | undefined> {
    this.#environment.refresh();
    return this.#environment.sessions.get(hash);
  }

  async list(): Promise<readonly Session[]> {
    this.#environment.refresh();
    return this.#inOrder();
  }

  add(session: Session): Promise<void> {
    return this.#write(() => [
      ...displacedBy(session, this.#inOrder()).map(({ hash }) => this.#writeOf(hash)),
      this.#writeOf(session.hash, session),
    ]);
  }

  setKey(hash: string, key: string | undefined): Promise<void> {
    return this.#write(() => {
      const session = this.#environment.sessions.get(hash);
      return session === undefined ? [] : [this.#writeOf(hash, { ...session, key })];
    });
  }

  remove(hash: string): Promise<Session | undefined> {
    return this.#environment.commits.run(() => {
      const session = this.#environment.sessions.get(hash);
      return { result: session, writes: session === undefined ? [] : [this.#writeOf(hash)] };
    }, EVEN_IF_FULL);
  }

  #write(decide: () => readonly Write[]): Promise<void> {
    return this.#environment.commits.run(() => ({ result: undefined, writes: decide() }), EVEN_IF_FULL);
  }

  #writeOf(key: string, value?: Session): Write {
    return { database: this.#environment.sessions, key, value };
  }

  #inOrder(): Session[] {
    const all = [...this.#environment.sessions.getRange()].map(({ value }) => value);
    return all.sort((a, b) => (a.created_on < b.created_on ? -1 : 1));
  }
}
