import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '../errors.ts';
import type { Position } from './position.ts';

/** One message a second. */
const INTERVAL_MS = 1_000;
type Sameness = (one: ListenRequest, other: ListenRequest) => boolean;

/** How many listen at most: what each of them costs is a socket, and a few KB a second. */
const BOUNDS: readonly { readonly max: number; readonly of: string; readonly counts: Sameness }[] = [
  // Who opens them and forgets them shuts out no other token, and the tokens of one account no other account.
  { max: 8, of: 'with one token', counts: (one, other) => one.tokenId === other.tokenId },
  { max: 32, of: 'to one account', counts: (one, other) => one.account === other.account },
  { max: 64, of: 'at once', counts: () => true },
];
const RETRY_AFTER_SECONDS = 10;

/** What a listener is told at one time: the state, and what has changed since the position before. */
export interface LiveMessage {
  readonly text: string;
  readonly next: Position;
}

export interface MessageRequest {
  readonly account: string;
  /** For who may read who changed what. */
  readonly isAudited: boolean;
  /** Without one nothing that has changed before is told. */
  readonly since: Position | undefined;
  readonly nowMs: number;
}

export interface LiveSource {
  message(request: MessageRequest): Promise<LiveMessage>;
}

export interface LiveDependencies {
  readonly source: LiveSource;
  /** Hears why a stream was ended: the token allows it no more, or nothing can be told. */
  readonly failed: (error: unknown) => void;
}

export interface ListenRequest {
  readonly account: string;
  readonly tokenId: string;
  readonly isAudited: boolean;
  /** Where a listener was that comes back. */
  readonly since: Position | undefined;
  /** Whether the token still allows it. */
  readonly isAllowed: () => Promise<boolean>;
}

/**
 * Tells listeners once a second how things stand, as Server-Sent Events. Nothing is done while nobody listens. Who does not
 * read gets no further message until it has taken the last one, and then what it missed.
 */
export class LiveUpdates {
  readonly #source: LiveSource;
  readonly #failed: (error: unknown) => void;
  readonly #intervalMs: number;
  readonly #listeners = new Set<Listener>();
  #isRunning = false;
  #isEnded = false;

  constructor(
    { intervalMs = INTERVAL_MS }: { readonly intervalMs?: number },
    { source, failed }: LiveDependencies,
  ) {
    this.#intervalMs = intervalMs;
    this.#source = source;
    this.#failed = failed;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** The text of an event stream, without end. Throws `rateLimited` where too many listen. */
  listen(request: ListenRequest): Readable {
    const listening = [...this.#listeners].map((listener) => listener.request);
    const reached = BOUNDS.find(
      ({ max, counts }) => listening.filter((other) => counts(request, other)).length >= max,
    );
    if (reached)
      throw new ApiError('rateLimited', {
        message: `Only ${reached.max} may listen ${reached.of}, and so many do`,
        headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
      });
    const listener = new Listener(request, (gone) => this.#listeners.delete(gone));
    this.#listeners.add(listener);
    if (this.#isRunning) void this.#tell([listener]);
    else void this.#run();
    return listener.stream;
  }

  /** Ends every stream, as the server stops. */
  end(): void {
    this.#isEnded = true;
    for (const { stream } of this.#listeners) stream.push(null);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#listeners.size > 0 && !this.#isEnded) {
      await this.#tell([...this.#listeners]);
      await pause(this.#intervalMs, undefined, { ref: false });
    }
    this.#isRunning = false;
  }

  async #tell(listeners: readonly Listener[]): Promise<void> {
    // Who was told at the same time is at the same place, and is told the same from then on.
    const nowMs = Date.now();
    const messages = new Map<string, Promise<LiveMessage>>();
    await Promise.all(
      listeners.map((listener) =>
        listener.tell(({ account, isAudited, since }) => {
          const key = `${account} ${isAudited} ${since?.change} ${since?.atMs}`;
          const message = messages.get(key) ?? this.#source.message({ account, isAudited, since, nowMs });
          messages.set(key, message);
          return message;
        }, this.#failed),
      ),
    );
  }
}

class Listener {
  readonly stream: Readable;
  readonly request: ListenRequest;
  #since: Position | undefined;
  #isTaken = true;
  #isTold = false;

  constructor(request: ListenRequest, gone: (listener: Listener) => void) {
    this.request = request;
    this.#since = request.since;
    this.stream = new Readable({
      highWaterMark: 1,
      read: () => {
        this.#isTaken = true;
      },
    });
    this.stream.once('close', () => gone(this));
  }

  /** Ends the stream where it may no longer be read, or where nothing can be told. */
  async tell(
    message: (request: Omit<MessageRequest, 'nowMs'>) => Promise<LiveMessage>,
    failed: (error: unknown) => void,
  ): Promise<void> {
    if (!this.#isTaken || this.#isTold) return;
    this.#isTold = true;
    try {
      const { account, isAudited, isAllowed } = this.request;
      if (await isAllowed()) {
        const { text, next } = await message({ account, isAudited, since: this.#since });
        this.#since = next;
        this.#isTaken = this.stream.push(text);
      } else this.stream.push(null);
    } catch (error) {
      this.stream.push(null);
      failed(error);
    } finally {
      this.#isTold = false;
    }
  }
}
