import { Delivery } from './delivery.ts';
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

interface Subscriber<T extends PushItem> extends ItemFilter<T> {
  readonly sink: Sink;
  /** The subscriber receives blocks with this sequence number (`moment`) or a higher one. */
  readonly since: number;
}

interface SentItems<T extends PushItem> extends SentBlock {
  readonly items: readonly T[];
  readonly bytes: number;
}

/** Subscribers and the items sent to them. After a reorg, these items are sent again with `removed: true`. */
export class Subscribers<T extends PushItem> {
  readonly #subscribers = new Set<Subscriber<T>>();
  readonly #index = new FilterIndex<Subscriber<T>>();
  readonly #rememberedBytes: number;
  /** Blocks of which at least one item was sent, in ascending order. */
  #sent: SentItems<T>[] = [];
  #bytes = 0;
  #moment = 0;
  /** Highest block whose sent items are no longer kept. */
  #forgotten: SentBlock | undefined;

  constructor(rememberedBytes = REMEMBERED_BYTES) {
    this.#rememberedBytes = rememberedBytes;
  }

  get size(): number {
    return this.#subscribers.size;
  }

  /** Adds a subscriber. Returns a function that removes it. */
  add(filter: ItemFilter<T>, sink: Sink): () => void {
    const subscriber = { ...filter, sink, since: this.#moment };
    this.#subscribers.add(subscriber);
    const remove = this.#index.add(subscriber);
    return () => {
      remove();
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.#forgetAll();
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

  /** Sends items of a block, except `undefined`. Keeps the received ones for a reorg. Yields after each step. */
  *send({ blockNumber, moment }: SentBlock, items: Iterable<T | undefined>): Generator<void> {
    const reported: T[] = [];
    let bytes = 0;
    const delivery = new Delivery(this.#subscribers);
    for (const item of items) {
      yield;
      if (item === undefined || !(yield* this.#queue(delivery, { item, moment, removed: false }))) continue;
      bytes += item.text.length;
      // If the items of this block alone exceed the limit, none are kept: `#forget` removes the block anyway.
      if (bytes <= this.#rememberedBytes) reported.push(item);
      else reported.length = 0;
    }
    yield* delivery.send();
    if (bytes === 0 || this.size === 0) return;
    this.#sent.push({ blockNumber, moment, items: reported, bytes });
    this.#bytes += bytes;
    this.#forget(blockNumber);
  }

  /** Sends the items of `fromBlock` and of later blocks again, marked as removed, in reverse order. */
  *sendRemoved(fromBlock: number): Generator<void> {
    const delivery = new Delivery(this.#subscribers);
    for (
      let reported = this.#sent.at(-1);
      reported !== undefined && reported.blockNumber >= fromBlock;
      reported = this.#sent.at(-1)
    ) {
      this.#sent.pop();
      this.#bytes -= reported.bytes;
      const { moment } = reported;
      for (const item of [...reported.items].reverse())
        yield* this.#queue(delivery, { item, moment, removed: true });
    }
    yield* delivery.send();
    if (this.#forgotten === undefined || this.#forgotten.blockNumber < fromBlock) return;
    this.missed(this.#forgotten.moment);
    this.#forgotten = undefined;
  }

  /** Tells subscribers that they missed notifications: all that were to receive blocks with this sequence number. */
  missed(moment: number): void {
    for (const { sink, since } of this.#subscribers) if (since <= moment) sink.missed();
  }

  /** Queues an item for all subscribers that receive it. Returns true if there is at least one. */
  *#queue(
    delivery: Delivery<Subscriber<T>>,
    { item, moment, removed }: Sending<T>,
  ): Generator<void, boolean> {
    const { values } = item;
    const text = `${item.text.slice(0, -1)},"removed":${removed}}`;
    let isReported = false;
    for (const subscriber of values === undefined ? this.#subscribers : this.#index.matches(values)) {
      if (subscriber !== undefined && subscriber.since <= moment && subscriber.accepts(item)) {
        delivery.add(subscriber, text, isReported ? 0 : text.length);
        isReported = true;
        if (delivery.isFull) yield* delivery.send();
      }
      yield;
    }
    return isReported;
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

interface Sending<T extends PushItem> {
  readonly item: T;
  readonly moment: number;
  readonly removed: boolean;
}
