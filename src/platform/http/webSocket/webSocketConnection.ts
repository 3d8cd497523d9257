import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { failureReporter } from '../../background/index.ts';
import type { BudgetClient } from '../../budgets/index.ts';
import type { Scheduler } from '../../scheduler/index.ts';
import { type Connection, connectionOf } from '../connection.ts';
import type { UnfinishedMessage, UnfinishedMessages } from '../unfinished/unfinishedMessages.ts';
import type { Reader } from '../unsent/readers.ts';
import { type CloseReason, closeFrameOf, closeReasonOf } from './closing.ts';
import { MessageMemory } from './messageMemory.ts';

/** Handles the messages of one WebSocket connection. */
export interface MessageHandler {
  /** Handles a message, which counts as running until the returned promise resolves. The promise must not reject. */
  message(bytes: Buffer): Promise<void> | void;
  closed(): void;
}

export interface WebSocketConnectionDependencies {
  readonly socket: WebSocket;
  readonly reader: Reader;
  /** The upgrade request of the connection. */
  readonly request: IncomingMessage;
  /** The client that is charged for the processor time of messages. */
  readonly client: BudgetClient;
  readonly scheduler: Scheduler;
  /** Counts large messages that wait. */
  readonly unfinished: UnfinishedMessages;
  /** Called once, with the reason, when the connection is closing or closed. */
  readonly closing: (reason: CloseReason) => void;
  readonly closed: () => void;
}

/** Maximum messages per connection that are handled at the same time. While others wait, the socket is not read. */
const MAX_RUNNING = 16;
/** A connection is closed after this number of liveness checks without any message, ping or pong. */
const MAX_SILENT_LOOKS = 2;
/**
 * While the socket has more unsent bytes than this, other messages wait in a queue. After a long write, and when it is
 * closed, a socket calls the callbacks of all its messages in one step: 200 ms for 4 MiB of notifications.
 */
const MAX_SOCKET_BYTES = 64 * 1024;
/** Waiting messages count only above this size, the maximum of a socket read. */
const FREE_BYTES = 64 * 1024;

interface Waiting {
  readonly bytes: Buffer;
  memory: UnfinishedMessage | undefined;
}

interface Unsent {
  readonly message: Buffer | string;
  readonly bytes: number;
  readonly sent: () => void;
}

/** A WebSocket. Backpressure limits both the messages that it handles and the notifications that it sends. */
export class WebSocketConnection {
  readonly request: IncomingMessage;
  readonly #dependencies: WebSocketConnectionDependencies;
  readonly #socket: WebSocket;
  readonly #maxUnsentBytes: number;
  readonly #handler: MessageHandler;
  readonly #connection: Connection | undefined;
  #hasSubscriptions = false;
  /** Bytes of notifications that the client has not received. */
  #pushedBytes = 0;
  readonly #queue: Waiting[] = [];
  /** Messages to the client that wait until the socket has sent others. */
  #unsent: Unsent[] = [];
  #isUnsentScheduled = false;
  #isScheduled = false;
  #running = 0;
  #silentLooks = 0;
  #isDraining = false;
  #isReported = false;

  constructor(
    maxUnsentBytes: number,
    dependencies: WebSocketConnectionDependencies,
    handlerOf: (connection: WebSocketConnection) => MessageHandler,
  ) {
    const { socket, request } = dependencies;
    this.request = request;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.#dependencies = dependencies;
    this.#socket = socket;
    this.#connection = connectionOf(request.socket);
    this.#handler = handlerOf(this);
    socket.on('message', (bytes: Buffer) => this.#received(bytes));
    socket.on('ping', () => this.#heard());
    socket.on('pong', () => this.#heard());
    socket.on('error', (error) => {
      this.#reportClosing(closeReasonOf(error));
    });
    socket.on('close', (code) => this.#closed(code));
  }

  /** Whether notifications are sent. Such a connection is closed last if there are too many. */
  set hasSubscriptions(hasSubscriptions: boolean) {
    this.#hasSubscriptions = hasSubscriptions;
    this.#reportUse();
  }

  /** Returns an account for the memory of the response to a message. */
  space(): MessageMemory {
    return new MessageMemory(this.#dependencies.reader, this.request);
  }

  /** Sends a response. Resolves when its last byte was sent or the client has disconnected. */
  answer(message: Buffer, space: MessageMemory): Promise<void> {
    return new Promise((resolve) => {
      const sent = (): void => {
        space.finish();
        resolve();
      };
      this.#send({ message, bytes: message.length, sent });
    });
  }

  /** Sends a notification. Closes the connection if unsent notifications exceed the limit. */
  push(message: string): void {
    if (!this.#isOpen) return;
    const bytes = Buffer.byteLength(message);
    // If no other notification is unsent, a notification may have any size.
    if (this.#pushedBytes > 0 && this.#pushedBytes + bytes > this.#maxUnsentBytes) return this.close('slow');
    this.#pushedBytes += bytes;
    const sent = (): void => {
      this.#pushedBytes -= bytes;
    };
    this.#send({ message, bytes, sent });
  }

  /**
   * Starts the closing handshake after the messages in the socket. Messages that wait for the socket are discarded. A
   * client that does not complete the handshake in time is disconnected.
   */
  close(reason: CloseReason): void {
    this.#reportClosing(reason);
    this.#discardUnsent();
    const { code, text } = closeFrameOf(reason);
    this.#socket.close(code, text);
  }

  /** Closes the connection at once. Nothing more is sent or received. */
  closeNow(reason: CloseReason): void {
    this.#reportClosing(reason);
    this.#socket.terminate();
  }

  /** Ignores new messages, and closes the connection after the running ones are answered. */
  drain(): void {
    this.#isDraining = true;
    this.#dropWaiting();
    if (this.#running === 0) this.close('stopping');
  }

  /** Checks whether the client is still connected: sends a ping, or closes the connection after two silent checks. */
  checkLiveness(): void {
    // While messages wait, the socket is not read, so its silence proves nothing. While messages run, the connection
    // is in use.
    if (this.#running > 0 || this.#queue.length > 0) return this.#heard();
    if (this.#silentLooks >= MAX_SILENT_LOOKS) return this.close('idle');
    this.#silentLooks++;
    this.#socket.ping();
  }

  #reportUse(): void {
    const otherUse = this.#running > 0 ? 'busy' : 'idle';
    this.#connection?.use(this.#hasSubscriptions ? 'live' : otherUse);
  }

  #heard(): void {
    this.#silentLooks = 0;
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  #send(unsent: Unsent): void {
    const { reader } = this.#dependencies;
    if (!this.#isOpen) return unsent.sent();
    if (this.#unsent.length === 0 && reader.socket.writableLength <= MAX_SOCKET_BYTES) this.#write(unsent);
    else {
      this.#unsent.push(unsent);
      reader.queuedBytes += unsent.bytes;
    }
    reader.wrote(this.request);
  }

  #write({ message, sent }: Unsent): void {
    this.#socket.send(message, { binary: false }, () => {
      sent();
      this.#scheduleUnsent();
    });
  }

  #scheduleUnsent(): void {
    if (this.#isUnsentScheduled || this.#unsent.length === 0) return;
    this.#isUnsentScheduled = true;
    const { scheduler, client } = this.#dependencies;
    scheduler.defer(client, () => {
      this.#isUnsentScheduled = false;
      this.#writeUnsent();
    });
  }

  /** Writes as many waiting messages as the socket may have. */
  #writeUnsent(): void {
    if (!this.#isOpen) return this.#discardUnsent();
    const { reader } = this.#dependencies;
    const { socket } = reader;
    socket.cork();
    let count = 0;
    for (const unsent of this.#unsent) {
      if (socket.writableLength > MAX_SOCKET_BYTES) break;
      count++;
      reader.queuedBytes -= unsent.bytes;
      this.#write(unsent);
    }
    this.#unsent.splice(0, count);
    socket.uncork();
  }

  #discardUnsent(): void {
    const unsent = this.#unsent;
    this.#unsent = [];
    this.#dependencies.reader.queuedBytes = 0;
    for (const { sent } of unsent) sent();
  }

  #received(bytes: Buffer): void {
    this.#heard();
    if (this.#isDraining || !this.#isOpen) return;
    const waiting = { bytes, memory: undefined };
    this.#queue.push(waiting);
    this.#handleWaiting();
    if (this.#queue.length === 0) return;
    this.#socket.pause();
    // Until this tick ends, the message still counts as incomplete.
    if (bytes.length > FREE_BYTES) queueMicrotask(() => this.#countWaiting(waiting));
  }

  #countWaiting(waiting: Waiting): void {
    if (!this.#queue.includes(waiting)) return;
    const evict = (): void => this.closeNow('unfinished');
    waiting.memory = this.#dependencies.unfinished.begin(this.request, waiting.bytes.length, evict);
    if (waiting.memory === undefined) this.close('unfinished');
  }

  /** Handles one waiting message in a time slice of the client, and schedules the next one. */
  #handleWaiting(): void {
    if (this.#isScheduled || this.#running >= MAX_RUNNING || this.#queue.length === 0) return;
    this.#isScheduled = true;
    const { scheduler, client } = this.#dependencies;
    scheduler.run(client, () => {
      this.#isScheduled = false;
      const next = this.#queue.shift();
      if (next !== undefined) this.#handle(next.bytes);
      next?.memory?.end();
      if (this.#queue.length > 0) this.#handleWaiting();
      else if (this.#socket.isPaused) this.#socket.resume();
    });
  }

  #dropWaiting(): void {
    for (const { memory } of this.#queue.splice(0)) memory?.end();
  }

  #handle(bytes: Buffer): void {
    const done = this.#handler.message(bytes);
    if (done === undefined) return;
    this.#running++;
    this.#reportUse();
    done.catch(failureReporter('WebSocket message')).then(() => {
      this.#running--;
      this.#reportUse();
      if (this.#queue.length > 0) this.#handleWaiting();
      else if (this.#isDraining && this.#running === 0) this.close('stopping');
    }, failureReporter('WebSocket message'));
  }

  #closed(code: number): void {
    this.#dropWaiting();
    this.#discardUnsent();
    this.#handler.closed();
    this.#reportClosing(code === NO_CLOSE_FRAME ? 'gone' : 'client');
    this.#dependencies.closed();
  }

  #reportClosing(reason: CloseReason): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#dependencies.closing(reason);
  }
}

/** Close code that `ws` reports if the connection ended without a close frame. */
const NO_CLOSE_FRAME = 1006;
