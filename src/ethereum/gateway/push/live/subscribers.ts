import { REMEMBERED_BLOCKS } from './headFeed.ts';
import type { Sink } from './sink.ts';

/** Maximum bytes of sent items that are kept, to withdraw them after a reorg. The oldest block is forgotten first. */
const REMEMBERED_BYTES = 32 * 1024 * 1024;

export interface PushItem {
  /** Keys in the subscriber index, such as addresses. Only subscribers with one of them can receive the item. */
  readonly keys: readonly string[];
  readonly text: string;
}

export interface ItemFilter<T extends PushItem> {
  /** Keys in the subscriber index, such as addresses. The subscriber receives only items with one of them. */
  readonly keys: Iterable<string>;
  matches(item: T): boolean;
}

export interface SentBlock {
  readonly blockNumber: number;
  /** Sequence number of the change that added the block, from `Subscribers.moment`. */
  readonly moment: number;
}

interface Subscriber<T extends PushItem> extends ItemFilter<T> {
  readonly keys: ReadonlySet<string>;
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
  readonly #byKey = new Map<string, Set<Subscriber<T>>>();
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
  add({ keys, matches }: ItemFilter<T>, sink: Sink): () => void {
    const own = new Set(keys);
    const subscriber = { keys: own, matches, sink, since: this.#moment };
    this.#subscribers.add(subscriber);
    for (const key of own) this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(subscriber));
    return () => {
      this.#subscribers.delete(subscriber);
      for (const key of own) {
        const others = this.#byKey.get(key);
        others?.delete(subscriber);
        if (others?.size === 0) this.#byKey.delete(key);
      }
      if (this.#subscribers.size === 0) this.#forgetAll();
    };
  }

  wants(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Returns a new sequence number for a change of blocks. Only subscribers that exist now receive these blocks. */
  moment(): number {
    return this.#moment++;
  }

  /** Sends items of a block, except `undefined`. Keeps the received ones for a reorg. Yields after each step. */
  *send({ blockNumber, moment }: SentBlock, items: Iterable<T | undefined>): Generator<void> {
    const reported: T[] = [];
    let bytes = 0;
    for (const item of items) {
      yield;
      if (item === undefined || !(yield* this.#push(item, moment, false))) continue;
      bytes += item.text.length;
      // If the items of this block alone exceed the limit, none are kept: `#forget` removes the block anyway.
      if (bytes <= this.#rememberedBytes) reported.push(item);
      else reported.length = 0;
    }
    if (bytes === 0 || this.size === 0) return;
    this.#sent.push({ blockNumber, moment, items: reported, bytes });
    this.#bytes += bytes;
    this.#forget(blockNumber);
  }

  /** Sends the items of `fromBlock` and of later blocks again, marked as removed, in reverse order. */
  *sendRemoved(fromBlock: number): Generator<void> {
    for (
      let reported = this.#sent.at(-1);
      reported !== undefined && reported.blockNumber >= fromBlock;
      reported = this.#sent.at(-1)
    ) {
      this.#sent.pop();
      this.#bytes -= reported.bytes;
      for (const item of [...reported.items].reverse()) yield* this.#push(item, reported.moment, true);
    }
    if (this.#forgotten === undefined || this.#forgotten.blockNumber < fromBlock) return;
    this.missed(this.#forgotten.moment);
    this.#forgotten = undefined;
  }

  /** Tells subscribers that they missed notifications: all that were to receive blocks with this sequence number. */
  missed(moment: number): void {
    for (const { sink, since } of this.#subscribers) if (since <= moment) sink.missed();
  }

  /** Sends an item to all subscribers whose filter matches. Returns true if there is at least one. */
  *#push(item: T, moment: number, removed: boolean): Generator<void, boolean> {
    const text = `${item.text.slice(0, -1)},"removed":${removed}}`;
    let isReported = false;
    for (const [i, key] of item.keys.entries())
      for (const subscriber of this.#byKey.get(key) ?? []) {
        const { keys, matches, sink, since } = subscriber;
        const isDone = i > 0 && item.keys.slice(0, i).some((before) => keys.has(before));
        if (!isDone && since <= moment && matches(item)) {
          sink.push(text);
          isReported = true;
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
