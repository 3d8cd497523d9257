import { WebSocketServer } from 'ws';
import { Turns } from '../pipelining/turns.ts';
import type { CloseReason } from './closing.ts';
import type { Upgrade } from './upgrade.ts';
import { type MessageHandler, WebSocketConnection } from './webSocketConnection.ts';

export interface WebSocketsOptions {
  readonly maxMessageBytes: number;
  /** Bytes of what was pushed that a client may leave unread. */
  readonly maxUnsentBytes: number;
  /** A client of which nothing comes for longer, not even an answer to a ping, is hung up on. */
  readonly idleTimeoutMs: number;
}

/** A client has so long to answer a close; then it is hung up on. */
const CLOSE_TIMEOUT_MS = 5_000;
/** Pieces that one message may come in. */
const MAX_FRAGMENTS = 1_024;
/** Reads of a socket that one piece may take: those of a client that sends a byte at a time would hold far more memory than bytes. */
const MAX_CHUNKS = 16 * 1024;
/** Answers to pings that a client may leave unread. */
const MAX_UNREAD_PONGS = 16;
/** Looks at each connection within the time that it has. */
const LOOKS = 3;

/** The WebSockets of a server, without compression: of small messages it saves nothing, and it costs memory for each connection. */
export class WebSockets {
  readonly #options: WebSocketsOptions;
  readonly #closing: (reason: CloseReason) => void;
  readonly #server: WebSocketServer;
  readonly #turns = new Turns();
  readonly #connections = new Set<WebSocketConnection>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WebSocketsOptions, closing: (reason: CloseReason) => void) {
    this.#options = options;
    this.#closing = closing;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: options.maxMessageBytes,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_CHUNKS,
      maxPendingAutoPongs: MAX_UNREAD_PONGS,
      closeTimeout: CLOSE_TIMEOUT_MS,
    } as ConstructorParameters<typeof WebSocketServer>[0]); // its types lag behind
  }

  get size(): number {
    return this.#connections.size;
  }

  accept(upgrade: Upgrade, handlerOf: (connection: WebSocketConnection) => MessageHandler): void {
    const { request } = upgrade;
    const { socket, head, connection } = upgrade.accept();
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const opened: WebSocketConnection = new WebSocketConnection(
        this.#options.maxUnsentBytes,
        {
          socket: webSocket,
          connection,
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
      if (this.#connections.size === 0) this.#watch();
      this.#connections.add(opened);
    });
  }

  /** Closes all connections, each when what it has asked for is answered. */
  drain(): void {
    for (const connection of this.#connections) connection.drain();
  }

  #watch(): void {
    this.#timer = setInterval(() => {
      for (const connection of this.#connections) connection.look();
    }, this.#options.idleTimeoutMs / LOOKS).unref();
  }
}
