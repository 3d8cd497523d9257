import { ClientTurns } from './clientTurns.ts';

/** If a limit is reached, items are sent until this part of it is used. */
const MAX_LEFT = 1 / 2;

export interface DeliveryLimits {
  /** Number of waiting items. An item counts for each client that waits for it. */
  readonly items: number;
  /** Bytes of the texts of waiting items. An item counts once. */
  readonly bytes: number;
  /** Time in milliseconds after which a client is late. */
  readonly lateMs: number;
}

/** The items take 8 bytes for each client that waits. */
const LIMITS: DeliveryLimits = { items: 500_000, bytes: 8 * 1024 * 1024, lateMs: 5_000 };

export interface Receivers<C, T> {
  /** Sends an item to the subscribers of a client. Yields after each step. */
  send(item: T, client: C): Iterable<unknown>;
  /** Called with the items of a client that were dropped. */
  dropped(items: readonly T[], client: C): void;
}

/** An item that waits for at least one client. */
interface Waiting<T> {
  readonly item: T;
  readonly bytes: number;
  readonly sinceMs: number;
  clients: number;
}

/**
 * Items that wait to be sent. Clients are served one after the other, so that a client with many subscriptions does not
 * delay the others, not even those that wait for later blocks. If too many items wait, those of late clients are
 * dropped, beginning with the client that has most.
 */
export class Delivery<C, T> {
  readonly #receivers: Receivers<C, T>;
  readonly #limits: DeliveryLimits;
  readonly #turns: ClientTurns<C, Waiting<T>>;
  #bytes = 0;
  #isSending = false;

  constructor(receivers: Receivers<C, T>, limits = LIMITS) {
    this.#receivers = receivers;
    this.#limits = limits;
    this.#turns = new ClientTurns(
      ({ item }, client) => receivers.send(item, client),
      (waiting) => this.#release(waiting),
    );
  }

  /** Must be called before `add`. If too many items wait, drops or sends some. Yields after each step. */
  *makeRoom(): Generator<void> {
    if (!this.#isAbove(1)) return;
    const lateMs = performance.now() - this.#limits.lateMs;
    for (
      let late = this.#turns.largest();
      late !== undefined && late.first.sinceMs <= lateMs && this.#isAbove(MAX_LEFT);
      late = this.#turns.largest()
    )
      this.#receivers.dropped(this.remove(late.client), late.client);
    while (this.#isAbove(MAX_LEFT) && this.#turns.step()) yield;
  }

  /** Adds an item of `bytes` bytes for some clients. */
  add(item: T, bytes: number, clients: Iterable<C>): void {
    const waiting: Waiting<T> = { item, bytes, sinceMs: performance.now(), clients: 0 };
    for (const client of clients) {
      if (waiting.clients++ === 0) this.#bytes += bytes;
      this.#turns.add(client, waiting);
    }
  }

  /** Sends all items. Yields after each step. Returns at once if another call is not finished. */
  *send(): Generator<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      while (this.#turns.step()) yield;
    } finally {
      this.#isSending = false;
    }
  }

  /** Removes and returns the items of a client. */
  remove(client: C): readonly T[] {
    return this.#turns.remove(client).map((waiting) => {
      this.#release(waiting);
      return waiting.item;
    });
  }

  /** Whether at least this part of a limit is used. */
  #isAbove(part: number): boolean {
    return this.#turns.size >= part * this.#limits.items || this.#bytes >= part * this.#limits.bytes;
  }

  #release(waiting: Waiting<T>): void {
    if (--waiting.clients === 0) this.#bytes -= waiting.bytes;
  }
}
