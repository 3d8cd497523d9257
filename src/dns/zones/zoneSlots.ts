/**
 * Bounds how many zones are read at the same time: in all, and from one server. A zone that keeps waiting for its server gives
 * its place to another, so that servers that hang hold up nobody.
 */

/** BIND transfers ten zones at a time (`transfers-in`). */
const AT_A_TIME = 10;
/** BIND asks two of one server (`transfers-per-ns`); most guards have one or two servers, with all the zones. */
const OF_ONE_SERVER = 4;

/** Gives a place back; a second call does nothing. */
export type Release = () => void;

interface Waiting {
  readonly server: string;
  readonly go: () => void;
}

export class ZoneSlots {
  readonly #taken = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #inAll = 0;

  /** Resolves when a zone of this server may be read. */
  async take(server: string): Promise<Release> {
    if (!this.#hasRoom(server))
      await new Promise<void>((resolve) => {
        // The place is taken when the turn comes, before anybody else is looked at.
        this.#waiting.push({ server, go: resolve });
      });
    else this.#count(server, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count(server, -1);
      this.#callNext();
    };
  }

  #hasRoom(server: string): boolean {
    return this.#inAll < AT_A_TIME && (this.#taken.get(server) ?? 0) < OF_ONE_SERVER;
  }

  #count(server: string, change: 1 | -1): void {
    this.#inAll += change;
    const taken = (this.#taken.get(server) ?? 0) + change;
    if (taken === 0) this.#taken.delete(server);
    else this.#taken.set(server, taken);
  }

  #callNext(): void {
    const next = this.#waiting.findIndex(({ server }) => this.#hasRoom(server));
    const [waiting] = next < 0 ? [] : this.#waiting.splice(next, 1);
    if (waiting === undefined) return;
    this.#count(waiting.server, 1);
    waiting.go();
  }
}
