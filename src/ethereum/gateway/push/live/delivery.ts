import { ClientQueues } from './clientQueues.ts';
import type { Sink } from './sink.ts';

/** Maximum number of queued notifications, at 48 bytes each. Enough for 1,000 subscriptions and a block of 400 logs. */
const MAX_QUEUED = 500_000;
/** Maximum bytes of the texts of queued notifications. */
const MAX_QUEUED_BYTES = 8 * 1024 * 1024;

interface Subscriber {
  readonly sink: Sink;
}

interface Notification<S extends Subscriber> {
  readonly subscriber: S;
  readonly text: string;
}

/** Notifications of a block. Clients receive them in turns, so that a client with many does not delay the others. */
export class Delivery<S extends Subscriber> {
  readonly #subscribers: ReadonlySet<S>;
  readonly #queues = new ClientQueues<Notification<S>>();
  #bytes = 0;

  /** `subscribers` are the current ones. The caller removes those that end. */
  constructor(subscribers: ReadonlySet<S>) {
    this.#subscribers = subscribers;
  }

  /** True if the queued notifications must be sent before more are added. */
  get isFull(): boolean {
    return this.#queues.size >= MAX_QUEUED || this.#bytes >= MAX_QUEUED_BYTES;
  }

  /** Queues a notification. `bytes` is the length of `text`, or 0 if another subscriber receives the same text. */
  add(subscriber: S, text: string, bytes = 0): void {
    this.#queues.add(subscriber.sink.client, { subscriber, text });
    this.#bytes += bytes;
  }

  /** Sends the queued notifications, except to subscribers that have ended. Yields after each one. */
  *send(): Generator<void> {
    for (const { subscriber, text } of this.#queues.drain()) {
      if (this.#subscribers.has(subscriber)) subscriber.sink.push(text);
      yield;
    }
    this.#bytes = 0;
  }
}
