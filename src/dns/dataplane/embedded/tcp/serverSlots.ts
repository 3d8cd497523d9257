/**
 * Limits the number of TCP connections to the DNS servers. Each client connection has its own connection to a server,
 * which needs a slot. The client connection keeps the slot until its queries are answered, and after that until
 * another client connection needs a slot. A client may use as many slots as are free, and takes a slot only from a
 * client that has more.
 */
import { Budget, type BudgetBound } from '../../../../platform/budgets/index.ts';
import { ConnectionTable, type SlotHolder } from './connectionTable.ts';

/**
 * Maximum number of TCP connections to the DNS servers. NSD allows 100 connections; if more than half of them are in
 * use, NSD closes those that were idle for 200 ms. BIND allows 150.
 */
export const MAX_SERVER_CONNECTIONS = 48;

export interface ServerSlotUser extends SlotHolder {
  onSlotGranted(): void;
  /** Asks a client connection to release its slot: now if it is idle, otherwise when its queries are answered. */
  requestRelease(): void;
}

export class ServerSlots<T extends ServerSlotUser> {
  readonly #budget: Budget;
  readonly #table = new ConnectionTable<T>();
  readonly #waiting = new Map<string, Set<T>>();

  constructor(capacity = MAX_SERVER_CONNECTIONS) {
    this.#budget = new Budget({ total: capacity, perClient: capacity, partOfFree: 1, minShare: 1 });
  }

  get used(): number {
    return this.#table.size;
  }

  /** Requests a slot. Calls `onSlotGranted` of the connection when it gets the slot, either now or later. */
  request(connection: T): void {
    const { client } = connection;
    const isAtShare = this.#boundOf(client) === 'perClient';
    const held = this.#table.countOf(client);
    if (this.#boundOf(client) !== undefined) this.#longestIdle(client, { isAtShare, held })?.requestRelease();
    if (this.#boundOf(client) === undefined) return this.#give(connection);
    const waiting = this.#waiting.get(client) ?? new Set();
    this.#waiting.set(client, waiting.add(connection));
    const busy = isAtShare ? this.#table.longestBusyOf(client) : this.#table.longestBusy(held);
    if (busy === undefined) return;
    this.#table.moveToEnd(busy);
    busy.requestRelease();
  }

  release(connection: T): void {
    const waiting = this.#waiting.get(connection.client);
    if (waiting?.delete(connection) && waiting.size === 0) this.#waiting.delete(connection.client);
    if (this.#table.has(connection)) this.#budget.release({ address: connection.client }, 1);
    this.#table.remove(connection);
    const next = this.#next();
    if (next !== undefined) this.#give(next);
  }

  touch(connection: T, isBusy: boolean): void {
    this.#table.touch(connection, isBusy);
    if (isBusy || !this.#table.has(connection)) return;
    const { client } = connection;
    const held = this.#table.countOf(client);
    for (const waiting of this.#waiting.keys())
      if (waiting === client || this.#table.countOf(waiting) < held) return connection.requestRelease();
  }

  #longestIdle(client: string, { isAtShare, held }: { isAtShare: boolean; held: number }): T | undefined {
    const ofOther = isAtShare ? undefined : this.#table.longestIdle(held);
    return ofOther ?? this.#table.longestIdleOf(client);
  }

  /** Returns the limit that another connection of a client would exceed. */
  #boundOf(client: string): BudgetBound | undefined {
    return this.#budget.exceededBy({ address: client }, 1);
  }

  #give(connection: T): void {
    this.#budget.charge({ address: connection.client }, 1);
    this.#table.add(connection);
    this.#table.touch(connection, true);
    connection.onSlotGranted();
  }

  /**
   * Removes the next connection to get a slot from the queue, and returns it: of the waiting clients that may have
   * another slot, the client with the fewest is served first, and its connection that has waited longest gets the slot.
   */
  #next(): T | undefined {
    let found: Set<T> | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [client, waiting] of this.#waiting) {
      const held = this.#table.countOf(client);
      if (held >= fewest || this.#boundOf(client) !== undefined) continue;
      fewest = held;
      found = waiting;
    }
    const next = found?.keys().next().value;
    if (next === undefined || found === undefined) return undefined;
    found.delete(next);
    this.#waiting.delete(next.client);
    // The client moves to the end of the queue, so that clients with the same number of slots take turns.
    if (found.size > 0) this.#waiting.set(next.client, found);
    return next;
  }
}
