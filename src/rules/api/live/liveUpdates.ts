import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { awaitedLater, inBackground } from '../../../platform/background/index.ts';
import { ApiError } from '../http/errors.ts';
import type { Position } from './position.ts';

const INTERVAL_MS = 1_000;
/** Interval of checks of the tokens. A stream ends within a second after its token was revoked or expired. */
const ACCESS_CHECK_MS = 500;
/** Maximum number of listeners (open streams) of all accounts. Each needs a socket and a few KB per second. */
const MAX_LISTENERS = 64;
/** Maximum number of listeners per token, so that streams that a client never closes do not lock out other tokens. */
const MAX_OF_TOKEN = 8;
const RETRY_AFTER_SECONDS = 10;

export interface LiveMessage {
  readonly text: string;
  readonly next: Position;
}

export interface MessageRequest {
  readonly account: string;
  readonly isAudited: boolean;
  /** Position up to which the listener has received changes. Without a position, no earlier changes are sent. */
  readonly since: Position | undefined;
  readonly nowMs: number;
}

export interface LiveSource {
  message(request: MessageRequest): Promise<LiveMessage>;
}

export interface LiveDependencies {
  readonly source: LiveSource;
  /** Called with the error if a stream ends because its token is invalid or no message can be created. */
  readonly failed: (error: unknown) => void;
}

export interface ListenRequest {
  readonly account: string;
  readonly tokenId: string;
  /** Root of the token's tree. */
  readonly rootId: string;
  readonly isAudited: boolean;
  /** Position from which a reconnecting listener continues; undefined for a new listener. */
  readonly since: Position | undefined;
  readonly isAllowed: () => Promise<boolean>;
}

/**
 * Sends the current state of its account to each listener every second, as Server-Sent Events. A slow listener gets
 * no message until it has read the last one; its next message then contains all changes since.
 */
export class LiveUpdates {
  readonly #source: LiveSource;
  readonly #failed: (error: unknown) => void;
  readonly #intervalMs: number;
  readonly #listeners = new Set<Listener>();
  #accessTimer: NodeJS.Timeout | undefined;
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

  /** Returns an endless stream of events for a new listener. Throws `rateLimited` if there are too many listeners. */
  listen(request: ListenRequest): Readable {
    const reached = this.#exceededLimit(request);
    if (reached !== undefined)
      throw new ApiError('rateLimited', {
        message: `Limit of live streams reached: ${reached}`,
        headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
      });
    const listener = new Listener(request, { gone: (gone) => this.#gone(gone), failed: this.#failed });
    this.#listeners.add(listener);
    this.#accessTimer ??= setInterval(() => this.#checkAccess(), ACCESS_CHECK_MS).unref();
    inBackground('live updates', () => (this.#isRunning ? this.#deliver([listener]) : this.#run()));
    return listener.stream;
  }

  end(): void {
    this.#isEnded = true;
    for (const { stream } of this.#listeners) stream.push(null);
  }

  /**
   * Returns the limit that a new listener would exceed, as text. An account, and a tree of tokens, may have as many
   * listeners as are still free, so a single one gets at most half of all. Seven can use all.
   */
  #exceededLimit({ account, tokenId, rootId }: ListenRequest): string | undefined {
    const listening = [...this.#listeners].map(({ request }) => request);
    const free = MAX_LISTENERS - listening.length;
    const ofAccount = listening.filter((other) => other.account === account).length;
    if (listening.filter((other) => other.tokenId === tokenId).length >= MAX_OF_TOKEN)
      return `${MAX_OF_TOKEN} per token`;
    if (free === 0) return `${MAX_LISTENERS} in total`;
    if (ofAccount >= free) return `${ofAccount} per account at present`;
    const ofRoot = listening.filter((other) => other.rootId === rootId).length;
    return ofRoot >= free ? `${ofRoot} per tree of tokens at present` : undefined;
  }

  #checkAccess(): void {
    for (const listener of this.#listeners) inBackground('live updates', () => listener.checkAccess());
  }

  #gone(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    clearInterval(this.#accessTimer);
    this.#accessTimer = undefined;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#listeners.size > 0 && !this.#isEnded) {
      await this.#deliver([...this.#listeners]);
      await pause(this.#intervalMs, undefined, { ref: false });
    }
    this.#isRunning = false;
  }

  async #deliver(listeners: readonly Listener[]): Promise<void> {
    // Listeners with the same position get the same message, which is created one time. They then have equal
    // positions again.
    const nowMs = Date.now();
    const messages = new Map<string, Promise<LiveMessage>>();
    await Promise.all(
      listeners.map((listener) =>
        listener.deliver(({ account, isAudited, since }) => {
          const key = `${account} ${isAudited} ${since?.change} ${since?.atMs}`;
          const message = messages.get(key) ?? this.#source.message({ account, isAudited, since, nowMs });
          messages.set(key, awaitedLater(message));
          return message;
        }),
      ),
    );
  }
}

class Listener {
  readonly stream: Readable;
  readonly request: ListenRequest;
  #since: Position | undefined;
  /** Whether the client has read the last message. */
  #isRead = true;
  #isDelivering = false;
  #isChecking = false;
  #isEnded = false;
  readonly #failed: (error: unknown) => void;

  constructor(
    request: ListenRequest,
    { gone, failed }: { gone: (listener: Listener) => void; failed: (error: unknown) => void },
  ) {
    this.request = request;
    this.#failed = failed;
    this.#since = request.since;
    this.stream = new Readable({
      highWaterMark: 1,
      read: () => {
        this.#isRead = true;
      },
    });
    this.stream.once('close', () => gone(this));
  }

  /** Sends a message if the client has read the last one. Ends the stream if no message can be created. */
  async deliver(message: (request: Omit<MessageRequest, 'nowMs'>) => Promise<LiveMessage>): Promise<void> {
    if (this.#isDelivering || this.#isEnded || !this.#isRead) return;
    this.#isDelivering = true;
    try {
      const { account, isAudited } = this.request;
      const { text, next } = await message({ account, isAudited, since: this.#since });
      if (this.#isEnded) return;
      this.#since = next;
      this.#isRead = this.stream.push(text);
    } catch (error) {
      this.#end();
      this.#failed(error);
    } finally {
      this.#isDelivering = false;
    }
  }

  /** Ends the stream if its token no longer allows it, even while a message is created. */
  async checkAccess(): Promise<void> {
    if (this.#isChecking || this.#isEnded) return;
    this.#isChecking = true;
    try {
      if (!(await this.request.isAllowed())) this.#end();
    } catch (error) {
      this.#end();
      this.#failed(error);
    } finally {
      this.#isChecking = false;
    }
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#isRead) this.stream.push(null);
    // A client that has not read the last message would not notice a regular end of the stream.
    else this.stream.destroy();
  }
}
