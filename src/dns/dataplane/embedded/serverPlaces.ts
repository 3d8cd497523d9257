/**
 * The connections to the servers behind, shared among the connections of clients: one of them has a place while it waits for
 * answers, and keeps it as long as nobody else needs it.
 */
import { ConnectionTable, type Held } from './connectionTable.ts';

/** Fewer than half of the 100 that NSD takes by default: beyond, it closes those that are quiet for 200 ms. BIND takes 150. */
const MAX_SERVER_CONNECTIONS = 48;

export interface PlaceHolder extends Held {
  /** The place that was asked for is there. */
  mayConnect(): void;
  /** Another one waits: give the place back, at once or when all that was asked is answered. */
  giveBack(): void;
}

export class ServerPlaces<T extends PlaceHolder> {
  readonly #capacity: number;
  readonly #table = new ConnectionTable<T>();
  readonly #waiting = new Map<string, Set<T>>();

  constructor(capacity = MAX_SERVER_CONNECTIONS) {
    this.#capacity = capacity;
  }

  get taken(): number {
    return this.#table.size;
  }

  /** Asks for a place: `mayConnect` is called when there is one, now or later. */
  request(connection: T): void {
    if (this.#table.size >= this.#capacity) this.#table.longestIdle(0)?.giveBack();
    if (this.#table.size < this.#capacity) return this.#give(connection);
    const waiting = this.#waiting.get(connection.client) ?? new Set();
    this.#waiting.set(connection.client, waiting.add(connection));
    const busy = this.#table.longestBusy(0);
    if (busy === undefined) return;
    this.#table.postpone(busy);
    busy.giveBack();
  }

  /** Gives the place back, or waits no more for one. */
  release(connection: T): void {
    const waiting = this.#waiting.get(connection.client);
    if (waiting?.delete(connection) && waiting.size === 0) this.#waiting.delete(connection.client);
    this.#table.remove(connection);
    const next = this.#table.size < this.#capacity ? this.#next() : undefined;
    if (next !== undefined) this.#give(next);
  }

  note(connection: T, isBusy: boolean): void {
    this.#table.note(connection, isBusy);
    if (!isBusy && this.#waiting.size > 0 && this.#table.has(connection)) connection.giveBack();
  }

  #give(connection: T): void {
    this.#table.add(connection);
    this.#table.note(connection, true);
    connection.mayConnect();
  }

  /** The one that has waited longest, of the client that has the fewest places. */
  #next(): T | undefined {
    let found: Set<T> | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [client, waiting] of this.#waiting) {
      const held = this.#table.heldBy(client);
      if (held >= fewest) continue;
      fewest = held;
      found = waiting;
    }
    const next = found?.keys().next().value;
    if (next === undefined || found === undefined) return undefined;
    found.delete(next);
    this.#waiting.delete(next.client);
    // Behind the other clients: among equals each has its turn.
    if (found.size > 0) this.#waiting.set(next.client, found);
    return next;
  }
}
