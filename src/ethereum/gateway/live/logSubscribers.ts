import { topicsMatch } from '../methods/checkLogs.ts';
import type { LogFilter } from '../methods/logFilter.ts';
import { REMEMBERED_BLOCKS } from './headFeed.ts';
import type { LiveLog } from './liveLogs.ts';
import type { Sink } from './sink.ts';

/** Logs that are remembered to be taken back: about a kilobyte each. Of blocks before them none are. */
const REMEMBERED_LOGS = 50_000;

export type LiveLogFilter = Pick<LogFilter, 'address' | 'topics'>;

interface Subscriber {
  readonly filter: LiveLogFilter;
  readonly sink: Sink;
  /** The first block that it is told of. */
  readonly from: number;
}

interface ToldBlock {
  /** Blocks are numbered in the order in which they are told. */
  readonly number: number;
  /** Undefined where they are remembered no more. */
  logs: readonly LiveLog[] | undefined;
}

/** Who wants which logs, and which were told: what was told is taken back where its block is replaced, and nothing else. */
export class LogSubscribers {
  readonly #subscribers = new Set<Subscriber>();
  /** By the address that they want logs of; `any` for those that want none in particular. */
  readonly #byAddress = new Map<string, Set<Subscriber>>();
  /** By block hash, in the order in which they were told. */
  readonly #told = new Map<string, ToldBlock>();
  #logs = 0;
  #next = 0;

  get size(): number {
    return this.#subscribers.size;
  }

  /** What it returns ends it. */
  add(filter: LiveLogFilter, sink: Sink): () => void {
    const subscriber = { filter, sink, from: this.#next };
    const addresses = addressesOf(filter);
    this.#subscribers.add(subscriber);
    for (const address of addresses) {
      const others = this.#byAddress.get(address) ?? new Set();
      this.#byAddress.set(address, others.add(subscriber));
    }
    return () => {
      this.#subscribers.delete(subscriber);
      for (const address of addresses) {
        const others = this.#byAddress.get(address);
        others?.delete(subscriber);
        if (others?.size === 0) this.#byAddress.delete(address);
      }
      if (this.#subscribers.size > 0) return;
      this.#told.clear();
      this.#logs = 0;
    };
  }

  /** A number for a block that will be told: to those who are there now. */
  number(): number {
    return this.#next++;
  }

  /** Tells of a block's logs. What it yields after is who may have a turn. */
  *tell(hash: string, number: number, logs: readonly LiveLog[]): Generator<void> {
    this.#told.set(hash, { number, logs });
    this.#logs += logs.length;
    this.#forget();
    for (const log of logs) yield* this.#push(log, { number, removed: false });
  }

  /** Takes back what was told of a block. */
  *takeBack(hash: string): Generator<void> {
    const told = this.#told.get(hash);
    if (told === undefined) return;
    this.#told.delete(hash);
    const { number, logs } = told;
    if (logs === undefined) {
      for (const { sink, from } of this.#subscribers) if (from <= number) sink.missed();
      return;
    }
    this.#logs -= logs.length;
    for (const log of [...logs].reverse()) yield* this.#push(log, { number, removed: true });
  }

  *#push(
    log: LiveLog,
    { number, removed }: { readonly number: number; readonly removed: boolean },
  ): Generator<void> {
    const text = log.text(removed);
    for (const address of [log.address, ANY])
      for (const { filter, sink, from } of this.#byAddress.get(address) ?? []) {
        if (from <= number && matches(filter, log)) sink.push(text);
        yield;
      }
  }

  #forget(): void {
    for (const [hash, told] of this.#told) {
      if (this.#told.size > REMEMBERED_BLOCKS) this.#told.delete(hash);
      else if (this.#logs <= REMEMBERED_LOGS) return;
      this.#logs -= told.logs?.length ?? 0;
      told.logs = undefined;
    }
  }
}

/** No address that a log could have. */
const ANY = 'any';

function addressesOf({ address }: LiveLogFilter): ReadonlySet<string> {
  const addresses = new Set([address ?? []].flat());
  return addresses.size === 0 ? new Set([ANY]) : addresses;
}

const matches = ({ topics = [] }: LiveLogFilter, log: LiveLog): boolean =>
  topics.length <= log.topics.length && topicsMatch(topics, log.topics);
