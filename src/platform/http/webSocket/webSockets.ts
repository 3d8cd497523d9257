import { WebSocketServer } from 'ws';
import { TimeSliceScheduler } from '../timeSliceScheduler.ts';
import type { UnfinishedMessages } from '../unfinished/unfinishedMessages.ts';
import type { CloseReason } from './closing.ts';
import { meterMessages } from './meterMessages.ts';
import type { Upgrade } from './upgrade.ts';
import { type MessageHandler, WebSocketConnection } from './webSocketConnection.ts';

export interface WebSocketsOptions {
  readonly maxMessageBytes: number;
  /** Maximum bytes of notifications that one client has not received. */
  readonly maxUnsentBytes: number;
  /** A client that sends nothing for this time, not even a pong, is disconnected. */
  readonly idleTimeoutMs: number;
}

export interface WebSocketsDependencies {
  /** Called with the reason for each connection that closes. */
  readonly closing: (reason: CloseReason) => void;
  readonly unfinished: UnfinishedMessages;
}

/** Time in which a client must complete the closing handshake. */
const CLOSE_TIMEOUT_MS = 5_000;
/** Maximum number of frames of one message. */
const MAX_FRAGMENTS = 1_024;
/**
 * Maximum number of socket reads per frame. A client that sends single bytes would otherwise use far more memory than
 * it sends bytes.
 */
const MAX_CHUNKS = 16 * 1024;
/** Maximum number of unsent pongs per client. */
const MAX_UNREAD_PONGS = 16;
/** Number of liveness checks within the idle timeout. */
const LOOKS = 3;

/** WebSockets of a server, without compression, which saves nothing for small messages and costs memory. */
export class WebSockets {
  readonly #options: WebSocketsOptions;
  readonly #closing: (reason: CloseReason) => void;
  readonly #unfinished: UnfinishedMessages;
  readonly #server: WebSocketServer;
  readonly #turns = new TimeSliceScheduler();
  readonly #connections = new Set<WebSocketConnection>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WebSocketsOptions, { closing, unfinished }: WebSocketsDependencies) {
    this.#options = options;
    this.#closing = closing;
    this.#unfinished = unfinished;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: options.maxMessageBytes,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_CHUNKS,
      maxPendingAutoPongs: MAX_UNREAD_PONGS,
      closeTimeout: CLOSE_TIMEOUT_MS,
    } as ConstructorParameters<typeof WebSocketServer>[0]); // the types of `ws` are outdated
  }

  get size(): number {
    return this.#connections.size;
  }

  accept(upgrade: Upgrade, handlerOf: (connection: WebSocketConnection) => MessageHandler): void {
    const { request } = upgrade;
    const { socket, head, reader } = upgrade.accept();
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const opened: WebSocketConnection = new WebSocketConnection(
        this.#options.maxUnsentBytes,
        {
          socket: webSocket,
          reader,
          request,
          turns: this.#turns,
          closing: this.#closing,
          closed: () => {
            this.#connections.delete(opened);
            if (this.#connections.size === 0) clearInterval(this.#timer);
          },
        },
        handlerOf,
      );
      meterMessages(this.#unfinished, socket, {
        request,
        reject() {
          opened.close('unfinished');
          // The client may continue to send until the connection closes; pausing the socket keeps that data in the
          // kernel.
          socket.pause();
        },
        evict: () => opened.closeNow('unfinished'),
      });
      if (this.#connections.size === 0) this.#watch();
      this.#connections.add(opened);
    });
  }

  /** Closes all WebSockets, each after its running requests are answered. */
  drain(): void {
    for (const connection of this.#connections) connection.drain();
  }

  #watch(): void {
    this.#timer = setInterval(() => {
      for (const connection of this.#connections) connection.checkLiveness();
    }, this.#options.idleTimeoutMs / LOOKS).unref();
  }
}
