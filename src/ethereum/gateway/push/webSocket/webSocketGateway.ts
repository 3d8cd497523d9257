import {
  type CloseReason,
  type UnfinishedMessages,
  type Upgrade,
  WebSockets,
} from '../../../../platform/http/index.ts';
import type { Scheduler } from '../../../../platform/scheduler/index.ts';
import { RpcError } from '../../../jsonrpc/index.ts';
import type { AdmissionControl, UrlKeys } from '../../http/admissionControl.ts';
import type { CallsHandlerDependencies, MethodTable } from '../../http/callsHandler.ts';
import type { HttpExchange } from '../../http/httpExchange.ts';
import type { FilterMemory } from '../../http/limits/filterMemory.ts';
import { Quota } from '../../http/limits/quota.ts';
import type { Live } from '../live/live.ts';
import { Session } from './session.ts';
import { SUBSCRIBE, type SubscriptionEntries } from './subscriptions.ts';

export interface WebSocketOptions {
  /** Maximum number of open WebSocket connections of all clients. 0: WebSockets are disabled. */
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly maxConnectionsPerKey: number;
  readonly maxSubscriptionsPerAddress: number;
  readonly maxSubscriptionsPerKey: number;
  readonly maxUnsentBytes: number;
  readonly idleTimeoutMs: number;
}

export interface WebSocketGatewayOptions extends WebSocketOptions {
  readonly maxMessageBytes: number;
  readonly maxAnswerBytes: number;
  /** Names of the methods to serve. Empty: all methods are served. */
  readonly methods: readonly string[];
}

export interface WebSocketGatewayDependencies extends CallsHandlerDependencies {
  readonly filterMemory: FilterMemory;
  readonly unfinished: UnfinishedMessages;
  readonly scheduler: Scheduler;
}

export interface Served {
  readonly methods: MethodTable;
  readonly live: Live;
  readonly entries: SubscriptionEntries;
}

/** Value of the Retry-After header, in seconds. By then, other clients may have closed connections. */
const RETRY_SECONDS = '10';

/** All WebSocket connections of the gateway. They serve the methods of the HTTP gateway, and also subscriptions. */
export class WebSocketGateway {
  readonly #options: WebSocketGatewayOptions;
  readonly #dependencies: WebSocketGatewayDependencies;
  readonly #admission: AdmissionControl;
  readonly #sockets: WebSockets;
  readonly #connections: Quota;
  readonly #subscriptions: Quota;

  constructor(
    options: WebSocketGatewayOptions,
    dependencies: WebSocketGatewayDependencies,
    admission: AdmissionControl,
  ) {
    const { webSockets: metrics } = dependencies.metrics;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#admission = admission;
    const { unfinished, scheduler } = dependencies;
    const closing = (reason: CloseReason): void => metrics.closed(reason);
    this.#sockets = new WebSockets(options, { closing, unfinished, scheduler });
    this.#connections = new Quota(
      { what: 'WebSockets', remedy: 'close others, or try again later' },
      {
        total: options.maxConnections,
        perClient: options.maxConnectionsPerAddress,
        perKey: options.maxConnectionsPerKey,
      },
      () => dependencies.metrics.limited('connections'),
    );
    this.#subscriptions = new Quota(
      { what: 'subscriptions', remedy: 'end others with eth_unsubscribe' },
      {
        total: Number.POSITIVE_INFINITY,
        perClient: options.maxSubscriptionsPerAddress,
        perKey: options.maxSubscriptionsPerKey,
      },
      () => dependencies.metrics.limited('subscriptions'),
    );
    metrics.watch({ connections: () => this.#sockets.size, subscriptions: () => this.#subscriptions.total });
  }

  get isOffered(): boolean {
    return this.#options.maxConnections > 0;
  }

  /** Opens a WebSocket whose handshake was checked. Responds with an HTTP error if the client is not admitted. */
  open(upgrade: Upgrade, exchange: HttpExchange, { served, url }: { served: Served; url: UrlKeys }): void {
    const { request } = upgrade;
    const permit = this.#admission.enter(request, url);
    if ('refusal' in permit) return exchange.send(permit.status, permit.refusal, ...permit.headers);
    permit.release();
    const client = { address: permit.address(), keyId: permit.keyId };
    try {
      // The connection stops counting for the quota when its socket closes, for whatever reason.
      request.socket.once('close', this.#connections.take(client));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return exchange.send(429, error, 'retry-after', RETRY_SECONDS);
    }
    const { maxAnswerBytes, methods } = this.#options;
    this.#sockets.accept(
      upgrade,
      client,
      (connection) =>
        new Session(
          { request, url, maxAnswerBytes },
          {
            ...this.#dependencies,
            admission: this.#admission,
            connection,
            client,
            methods: served.methods,
            subscriptions: {
              ...served,
              isOffered: methods.length === 0 || methods.includes(SUBSCRIBE),
              client,
              quota: this.#subscriptions,
              memory: this.#dependencies.filterMemory,
            },
          },
        ),
    );
  }

  /** Closes each WebSocket after its pending requests were answered. */
  drain(): void {
    this.#sockets.drain();
  }
}
