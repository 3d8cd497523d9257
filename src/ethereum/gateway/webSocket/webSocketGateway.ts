import { type Upgrade, WebSockets } from '../../../platform/http/index.ts';
import { RpcError } from '../../jsonrpc/index.ts';
import type { AdmissionControl } from '../admissionControl.ts';
import type { CallsHandlerDependencies, MethodTable } from '../callsHandler.ts';
import type { HttpExchange } from '../httpExchange.ts';
import type { Live } from '../live/live.ts';
import { Quotas } from '../quotas.ts';
import { Session } from './session.ts';
import { SUBSCRIBE, type SubscriptionEntries } from './subscriptions.ts';

export interface WebSocketOptions {
  /** Open at the same time, of all clients; 0 for none. */
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
  /** Those that are served; empty for all. */
  readonly methods: readonly string[];
}

/** What one network serves over WebSockets. */
export interface Served {
  readonly methods: MethodTable;
  readonly live: Live;
  readonly entries: SubscriptionEntries;
}

/** A connection is wanted again soon: others close theirs. */
const RETRY_SECONDS = '10';

/** The gateway's WebSockets: the same calls as over HTTP, one after the other of a connection that stays. */
export class WebSocketGateway {
  readonly #options: WebSocketGatewayOptions;
  readonly #dependencies: CallsHandlerDependencies;
  readonly #admission: AdmissionControl;
  readonly #sockets: WebSockets;
  readonly #connections: Quotas;
  readonly #subscriptions: Quotas;

  constructor(
    options: WebSocketGatewayOptions,
    dependencies: CallsHandlerDependencies,
    admission: AdmissionControl,
  ) {
    const { webSockets: metrics } = dependencies.metrics;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#admission = admission;
    this.#sockets = new WebSockets(options, (reason) => metrics.closed(reason));
    this.#connections = new Quotas('WebSockets', {
      total: options.maxConnections,
      perAddress: options.maxConnectionsPerAddress,
      perKey: options.maxConnectionsPerKey,
    });
    this.#subscriptions = new Quotas('subscriptions', {
      perAddress: options.maxSubscriptionsPerAddress,
      perKey: options.maxSubscriptionsPerKey,
    });
    metrics.watch({ connections: () => this.#sockets.size, subscriptions: () => this.#subscriptions.total });
  }

  get isOffered(): boolean {
    return this.#options.maxConnections > 0;
  }

  /** Opens a WebSocket for what a network serves, or answers why not. The request is sound. */
  open(upgrade: Upgrade, exchange: HttpExchange, { served, query }: { served: Served; query: string }): void {
    const { request } = upgrade;
    const permit = this.#admission.enter(request, query);
    if ('refusal' in permit) return exchange.send(permit.status, permit.refusal, ...permit.headers);
    permit.release();
    const holder = { address: permit.address(), keyId: permit.keyId };
    try {
      // With the connection, however that ends.
      request.socket.once('close', this.#connections.take(holder));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.#dependencies.metrics.limited('connections');
      return exchange.send(429, error, 'retry-after', RETRY_SECONDS);
    }
    const { maxAnswerBytes, methods } = this.#options;
    this.#sockets.accept(
      upgrade,
      (connection) =>
        new Session(
          { request, query, maxAnswerBytes },
          {
            ...this.#dependencies,
            admission: this.#admission,
            connection,
            methods: served.methods,
            subscriptions: {
              ...served,
              isOffered: methods.length === 0 || methods.includes(SUBSCRIBE),
              holder,
              quotas: this.#subscriptions,
              metrics: this.#dependencies.metrics,
            },
          },
        ),
    );
  }

  /** Closes all, each when what it has asked for is answered. */
  drain(): void {
    this.#sockets.drain();
  }
}
