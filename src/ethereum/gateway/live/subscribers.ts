import { REMEMBERED_BLOCKS } from './headFeed.ts';
import type { Sink } from './sink.ts';

/** What was told is remembered to be taken back, up to so many bytes of text. Of blocks before that nothing is. */
const REMEMBERED_BYTES = 32 * 1024 * 1024;

/** What may be pushed: a log, or a trace. */
export interface Item {
  /** What it is found by. */
  readonly keys: readonly string[];
  /** It as a JSON object. */
  readonly text: string;
}

/** What a subscriber wants. */
export interface Wanted<T extends Item> {
  /** It wants nothing that has none of these. */
  readonly keys: Iterable<string>;
  matches(item: T): boolean;
}

/** A block that is told. */
export interface ToldBlock {
  readonly blockNumber: number;
  /** From `Subscribers.moment`. */
  readonly moment: number;
}

interface Subscriber<T extends Item> extends Wanted<T> {
  readonly keys: ReadonlySet<string>;
  readonly sink: Sink;
  /** It is told of blocks of this moment and later ones. */
  readonly since: number;
}

interface Told<T extends Item> extends ToldBlock {
  readonly items: readonly T[];
  readonly bytes: number;
}

/** Who wants what, and what was told: that is taken back where its block is replaced, and nothing else. */
export class Subscribers<T extends Item> {
  readonly #subscribers = new Set<Subscriber<T>>();
  readonly #byKey = new Map<string, Set<Subscriber<T>>>();
  readonly #rememberedBytes: number;
  /** Blocks of which somebody was told something, ascending. */
  #told: Told<T>[] = [];
  #bytes = 0;
  #moment = 0;
  /** The highest block that is not remembered any more. */
  #forgotten: ToldBlock | undefined;

  constructor(rememberedBytes = REMEMBERED_BYTES) {
    this.#rememberedBytes = rememberedBytes;
  }

  get size(): number {
    return this.#subscribers.size;
  }

  /** What it returns ends it. */
  add({ keys, matches }: Wanted<T>, sink: Sink): () => void {
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

  /** For blocks that will be told: to those who are there now. */
  moment(): number {
    return this.#moment++;
  }

  /** Tells of what a block has. Where it yields others may have a turn. */
  *tell({ blockNumber, moment }: ToldBlock, items: readonly T[]): Generator<void> {
    const told: T[] = [];
    for (const item of items) if (yield* this.#push(item, moment, false)) told.push(item);
    if (told.length === 0 || this.size === 0) return;
    const bytes = told.reduce((sum, { text }) => sum + text.length, 0);
    this.#told.push({ blockNumber, moment, items: told, bytes });
    this.#bytes += bytes;
    this.#forget(blockNumber);
  }

  /** Takes back what was told of a block and those above it, the last first. */
  *takeBack(fromBlock: number): Generator<void> {
    for (
      let told = this.#told.at(-1);
      told !== undefined && told.blockNumber >= fromBlock;
      told = this.#told.at(-1)
    ) {
      this.#told.pop();
      this.#bytes -= told.bytes;
      for (const item of [...told.items].reverse()) yield* this.#push(item, told.moment, true);
    }
    if (this.#forgotten === undefined || this.#forgotten.blockNumber < fromBlock) return;
    this.missed(this.#forgotten.moment);
    this.#forgotten = undefined;
  }

  /** Whoever was there at a moment has to be told that something is missing. */
  missed(moment: number): void {
    for (const { sink, since } of this.#subscribers) if (since <= moment) sink.missed();
  }

  /** Returns whether anybody was told. */
  *#push(item: T, moment: number, removed: boolean): Generator<void, boolean> {
    const text = `${item.text.slice(0, -1)},"removed":${removed}}`;
    let isTold = false;
    for (const [i, key] of item.keys.entries())
      for (const subscriber of this.#byKey.get(key) ?? []) {
        const { keys, matches, sink, since } = subscriber;
        const isDone = i > 0 && item.keys.slice(0, i).some((before) => keys.has(before));
        if (!isDone && since <= moment && matches(item)) {
          sink.push(text);
          isTold = true;
        }
        yield;
      }
    return isTold;
  }

  #forget(newest: number): void {
    for (let oldest = this.#told[0]; oldest !== undefined; oldest = this.#told[0]) {
      const isNear = oldest.blockNumber > newest - REMEMBERED_BLOCKS;
      if (isNear && this.#bytes <= this.#rememberedBytes) return;
      this.#told.shift();
      this.#bytes -= oldest.bytes;
      this.#forgotten = oldest;
    }
  }

  #forgetAll(): void {
    this.#told = [];
    this.#bytes = 0;
    this.#forgotten = undefined;
  }
}
