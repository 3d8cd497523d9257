import { Delivery, type DeliveryLimits } from './delivery.ts';
import { FilterIndex, type ItemValues, type WantedValues } from './filterIndex.ts';
import { REMEMBERED_BLOCKS } from './headFeed.ts';
import type { Sink } from './sink.ts';

/** Maximum bytes of sent items that are kept, to withdraw them after a reorg. The oldest block is forgotten first. */
const REMEMBERED_BYTES = 32 * 1024 * 1024;

export interface PushItem {
  /** Values that filters are compared with. Undefined: all subscribers receive the item. */
  readonly values: ItemValues | undefined;
  readonly text: string;
}

export interface ItemFilter<T extends PushItem> {
  readonly wanted: WantedValues;
  /** Returns true if the subscriber receives an item with wanted values. */
  accepts(item: T): boolean;
}

export interface SentBlock {
  readonly blockNumber: number;
  /** Sequence number of the change that added the block, from `Subscribers.moment`. */
  readonly moment: number;
}

/** A client with at least one subscription. */
interface Client<T extends PushItem> {
  readonly name: string;
  readonly subscribers: Set<Subscriber<T>>;
}

interface Subscriber<T extends PushItem> extends ItemFilter<T> {
  readonly client: Client<T>;
  readonly sink: Sink;
  /** The subscriber receives blocks with this sequence number (`moment`) or a higher one. */
  readonly since: number;
}

interface Sending<T extends PushItem> {
  readonly item: T;
  readonly moment: number;
  /** The item with its `removed` member. */
  readonly text: string;
}

interface SentItems<T extends PushItem> extends SentBlock {
  readonly items: readonly T[];
  readonly bytes: number;
}

export interface SubscribersOptions {
  readonly rememberedBytes?: number;
  readonly limits?: DeliveryLimits;
}

/**
 * Subscribers and the items sent to them. After a reorg, these items are sent again with `removed: true`. The search
 * finds one matching filter of each client. The others are compared when the client is served, so that many filters of
 * one client do not delay other clients.
 */
export class Subscribers<T extends PushItem> {
  readonly #clients = new Map<string, Client<T>>();
  readonly #index = new FilterIndex<Client<T>, Subscriber<T>>();
  readonly #delivery: Delivery<Client<T>, Sending<T>>;
  readonly #rememberedBytes: number;
  /** Blocks with at least one item that matches a filter, in ascending order. */
  #sent: SentItems<T>[] = [];
  #bytes = 0;
  #size = 0;
  #moment = 0;
  /** Highest block whose sent items are no longer kept. */
  #forgotten: SentBlock | undefined;

  constructor({ rememberedBytes = REMEMBERED_BYTES, limits }: SubscribersOptions = {}) {
    this.#rememberedBytes = rememberedBytes;
    this.#delivery = new Delivery(
      {
        send: (sending, client) => this.#notify(client, sending),
        dropped(items, { subscribers }) {
          // After a reorg, removed items of earlier changes follow the items of later ones.
          const newest = items.reduce((latest, { moment }) => Math.max(latest, moment), 0);
          for (const { sink, since } of [...subscribers]) if (since <= newest) sink.missed();
        },
      },
      limits,
    );
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a subscriber. Returns a function that removes it. */
  add(filter: ItemFilter<T>, sink: Sink): () => void {
    const client = this.#clients.get(sink.client) ?? { name: sink.client, subscribers: new Set() };
    const subscriber = { ...filter, client, sink, since: this.#moment };
    this.#clients.set(client.name, client);
    client.subscribers.add(subscriber);
    this.#size++;
    const remove = this.#index.add(subscriber);
    return () => {
      if (!client.subscribers.delete(subscriber)) return;
      remove();
      this.#size--;
      if (client.subscribers.size > 0) return;
      this.#clients.delete(client.name);
      this.#delivery.remove(client);
      if (this.#size === 0) this.#forgetAll();
    };
  }

  /** Returns true if a subscriber wants items with this value in this position. */
  wants(position: number, value: string): boolean {
    return this.#index.has(position, value);
  }

  /** Returns a new sequence number for a change of blocks. Only subscribers that exist now receive these blocks. */
  moment(): number {
    return this.#moment++;
  }

  /**
   * Queues items of a block, except `undefined`, for the clients with matching filters, and keeps them for a reorg.
   * Yields after each step. `deliver` must follow.
   */
  *send({ blockNumber, moment }: SentBlock, items: Iterable<T | undefined>): Generator<void> {
    const kept: T[] = [];
    let bytes = 0;
    for (const item of items) {
      yield;
      if (item === undefined || !(yield* this.#queue(item, moment, false))) continue;
      bytes += item.text.length;
      // If the items of this block alone exceed the limit, none are kept: `#forget` removes the block anyway.
      if (bytes <= this.#rememberedBytes) kept.push(item);
      else kept.length = 0;
    }
    if (bytes === 0 || this.size === 0) return;
    this.#sent.push({ blockNumber, moment, items: kept, bytes });
    this.#bytes += bytes;
    this.#forget(blockNumber);
  }

  /** Queues the items of `fromBlock` and of later blocks again, marked as removed, in reverse order. */
  *sendRemoved(fromBlock: number): Generator<void> {
    for (
      let sent = this.#sent.at(-1);
      sent !== undefined && sent.blockNumber >= fromBlock;
      sent = this.#sent.at(-1)
    ) {
      this.#sent.pop();
      this.#bytes -= sent.bytes;
      for (const item of [...sent.items].reverse()) {
        yield;
        yield* this.#queue(item, sent.moment, true);
      }
    }
    if (this.#forgotten === undefined || this.#forgotten.blockNumber < fromBlock) return;
    this.missed(this.#forgotten.moment);
    this.#forgotten = undefined;
  }

  /** Sends the queued items. Yields after each step. Returns at once if another call is not finished. */
  deliver(): Generator<void> {
    return this.#delivery.send();
  }

  /** Tells subscribers that they missed notifications: all that were to receive blocks with this sequence number. */
  missed(moment: number): void {
    for (const { subscribers } of this.#clients.values())
      for (const { sink, since } of subscribers) if (since <= moment) sink.missed();
  }

  /** Queues an item for all clients with a matching filter. Returns true if there is at least one. */
  *#queue(item: T, moment: number, removed: boolean): Generator<void, boolean> {
    yield* this.#delivery.makeRoom();
    const clients: Client<T>[] = [];
    for (const client of item.values === undefined
      ? this.#clients.values()
      : this.#index.clients(item.values)) {
      if (client !== undefined) clients.push(client);
      yield;
    }
    const text = `${item.text.slice(0, -1)},"removed":${removed}}`;
    this.#delivery.add({ item, moment, text }, text.length, clients);
    return clients.length > 0;
  }

  /** Sends an item to all subscribers of a client that receive it. */
  *#notify(client: Client<T>, { item, moment, text }: Sending<T>): Generator<void> {
    const { subscribers } = client;
    for (const one of item.values === undefined
      ? [...subscribers]
      : this.#index.matches(client, item.values)) {
      // The subscription may have ended since the matching filters were found.
      if (one !== undefined && subscribers.has(one) && one.since <= moment && one.accepts(item))
        one.sink.push(text);
      yield;
    }
  }

  #forget(newest: number): void {
    for (let oldest = this.#sent[0]; oldest !== undefined; oldest = this.#sent[0]) {
      const isNear = oldest.blockNumber > newest - REMEMBERED_BLOCKS;
      if (isNear && this.#bytes <= this.#rememberedBytes) return;
      this.#sent.shift();
      this.#bytes -= oldest.bytes;
      this.#forgotten = oldest;
    }
  }

  #forgetAll(): void {
    this.#sent = [];
    this.#bytes = 0;
    this.#forgotten = undefined;
  }
}
