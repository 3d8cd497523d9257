import { WebSocketServer } from 'ws';
import type { BudgetClient } from '../../budgets/index.ts';
import type { Scheduler } from '../../scheduler/index.ts';
import { identifyClient } from '../unfinished/countedRequest.ts';
import type { UnfinishedMessages } from '../unfinished/unfinishedMessages.ts';
import type { CloseReason } from './closing.ts';
import { meterMessages } from './meterMessages.ts';
import { checkRepeatedly } from './repeatedCheck.ts';
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
  readonly scheduler: Scheduler;
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
  readonly #dependencies: WebSocketsDependencies;
  readonly #server: WebSocketServer;
  readonly #connections = new Set<WebSocketConnection>();

  constructor(options: WebSocketsOptions, dependencies: WebSocketsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
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

  /** `client` is charged for the processor time and the memory of the connection. */
  accept(
    upgrade: Upgrade,
    client: BudgetClient,
    handlerOf: (connection: WebSocketConnection) => MessageHandler,
  ): void {
    const { request } = upgrade;
    identifyClient(request, client);
    const { socket, head, reader } = upgrade.accept();
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const opened: WebSocketConnection = new WebSocketConnection(
        this.#options.maxUnsentBytes,
        {
          ...this.#dependencies,
          socket: webSocket,
          reader,
          request,
          client,
          closed: () => {
            this.#connections.delete(opened);
            stopChecks();
          },
        },
        handlerOf,
      );
      meterMessages(this.#dependencies.unfinished, socket, {
        request,
        reject() {
          opened.close('unfinished');
          // The client may continue to send until the connection closes; pausing the socket keeps that data in the
          // kernel.
          socket.pause();
        },
        evict: () => opened.closeNow('unfinished'),
      });
      this.#connections.add(opened);
      const stopChecks = checkRepeatedly(this.#options.idleTimeoutMs / LOOKS, () => opened.checkLiveness());
    });
  }

  /** Closes all WebSockets, each after its running requests are answered. */
  drain(): void {
    for (const connection of this.#connections) connection.drain();
  }
}
