import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '../errors.ts';
import type { Position } from './position.ts';

/** One message a second. */
const INTERVAL_MS = 1_000;
/** How many listen at most: what each of them costs is a socket, and a few KB a second. */
const MAX_LISTENERS = 64;
/** Who opens them and forgets them shuts out no other token. */
const MAX_OF_TOKEN = 8;
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
    const reached = this.#boundReachedBy(request);
    if (reached !== undefined)
      throw new ApiError('rateLimited', {
        message: `Only ${reached}, and so many do`,
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

  /**
   * An account has at most as many places as it leaves to others: half of what it found. So two accounts together leave a
   * quarter, and it takes seven to take all.
   */
  #boundReachedBy({ account, tokenId }: ListenRequest): string | undefined {
    const listening = [...this.#listeners].map(({ request }) => request);
    const free = MAX_LISTENERS - listening.length;
    const ofAccount = listening.filter((other) => other.account === account).length;
    if (listening.filter((other) => other.tokenId === tokenId).length >= MAX_OF_TOKEN)
      return `${MAX_OF_TOKEN} may listen with one token`;
    if (free === 0) return `${MAX_LISTENERS} may listen at once`;
    return ofAccount >= free ? `${ofAccount} may listen to one account now` : undefined;
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
