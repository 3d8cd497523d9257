/**
 * Limits the number of TCP connections to the DNS servers. Each of them occupies a slot. A client connection keeps
 * its slot while it waits for answers, and then until another client connection needs the slot.
 */
import { ConnectionTable, type SlotHolder } from './connectionTable.ts';

/**
 * Maximum number of connections to the DNS servers. NSD allows 100; when more than half of them are in use, it closes
 * connections that were idle for 200 ms. BIND allows 150.
 */
const MAX_SERVER_CONNECTIONS = 48;

export interface ServerSlotUser extends SlotHolder {
  onSlotGranted(): void;
  /** Asks the connection to release its slot: immediately if idle, otherwise when its queries are answered. */
  requestRelease(): void;
}

export class ServerSlots<T extends ServerSlotUser> {
  readonly #capacity: number;
  readonly #table = new ConnectionTable<T>();
  readonly #waiting = new Map<string, Set<T>>();

  constructor(capacity = MAX_SERVER_CONNECTIONS) {
    this.#capacity = capacity;
  }

  get used(): number {
    return this.#table.size;
  }

  /** Calls `onSlotGranted` when the slot is granted, either now or later. */
  request(connection: T): void {
    if (this.#table.size >= this.#capacity) this.#table.longestIdle(0)?.requestRelease();
    if (this.#table.size < this.#capacity) return this.#give(connection);
    const waiting = this.#waiting.get(connection.client) ?? new Set();
    this.#waiting.set(connection.client, waiting.add(connection));
    const busy = this.#table.longestBusy(0);
    if (busy === undefined) return;
    this.#table.moveToEnd(busy);
    busy.requestRelease();
  }

  release(connection: T): void {
    const waiting = this.#waiting.get(connection.client);
    if (waiting?.delete(connection) && waiting.size === 0) this.#waiting.delete(connection.client);
    this.#table.remove(connection);
    const next = this.#table.size < this.#capacity ? this.#next() : undefined;
    if (next !== undefined) this.#give(next);
  }

  touch(connection: T, isBusy: boolean): void {
    this.#table.touch(connection, isBusy);
    if (!isBusy && this.#waiting.size > 0 && this.#table.has(connection)) connection.requestRelease();
  }

  #give(connection: T): void {
    this.#table.add(connection);
    this.#table.touch(connection, true);
    connection.onSlotGranted();
  }

  /**
   * Removes and returns the next connection to get a slot: the longest waiting one of the client with fewest slots.
   */
  #next(): T | undefined {
    let found: Set<T> | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [client, waiting] of this.#waiting) {
      const held = this.#table.countOf(client);
      if (held >= fewest) continue;
      fewest = held;
      found = waiting;
    }
    const next = found?.keys().next().value;
    if (next === undefined || found === undefined) return undefined;
    found.delete(next);
    this.#waiting.delete(next.client);
    // Moves the client to the end of the queue, so that clients with equally many slots take turns.
    if (found.size > 0) this.#waiting.set(next.client, found);
    return next;
  }
}
