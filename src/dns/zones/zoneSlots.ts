/**
 * Limits how many zones are read at the same time, in total and per server. A read needs a slot. If a server sends
 * nothing, the caller releases the slot before the end of the read, so that zones of other servers need not wait.
 */

/** Maximum number of slots in total, as in BIND (`transfers-in`). */
const MAX_TOTAL = 10;
/** Maximum number of slots per server. More than in BIND (2, `transfers-per-ns`), as many guards use one server. */
const MAX_PER_SERVER = 4;

/** Releases a slot. Further calls do nothing. */
export type Release = () => void;

interface Waiting {
  readonly server: string;
  readonly go: () => void;
}

export class ZoneSlots {
  readonly #taken = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #inAll = 0;

  /** Resolves when a zone of this server may be read, with a function that releases the slot. */
  async take(server: string): Promise<Release> {
    if (!this.#hasFreeSlot(server))
      await new Promise<void>((resolve) => {
        // `#grantNext` counts the slot as used before it resolves this promise, so that no other caller gets it.
        this.#waiting.push({ server, go: resolve });
      });
    else this.#count(server, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count(server, -1);
      this.#grantNext();
    };
  }

  #hasFreeSlot(server: string): boolean {
    return this.#inAll < MAX_TOTAL && (this.#taken.get(server) ?? 0) < MAX_PER_SERVER;
  }

  #count(server: string, change: 1 | -1): void {
    this.#inAll += change;
    const taken = (this.#taken.get(server) ?? 0) + change;
    if (taken === 0) this.#taken.delete(server);
    else this.#taken.set(server, taken);
  }

  #grantNext(): void {
    const next = this.#waiting.findIndex(({ server }) => this.#hasFreeSlot(server));
    const [waiting] = next < 0 ? [] : this.#waiting.splice(next, 1);
    if (waiting === undefined) return;
    this.#count(waiting.server, 1);
    waiting.go();
  }
}
