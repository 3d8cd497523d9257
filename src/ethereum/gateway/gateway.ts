import type { IncomingMessage } from 'node:http';
import type { Readers, TrackedResponse, Upgrade } from '../../platform/http/index.ts';
import { beginHttpSpan } from '../../platform/spans/index.ts';
import { errorResponse, type HttpAnswer, handleBody, RateLimitedError, RpcError } from '../jsonrpc/index.ts';
import { AdmissionControl } from './admissionControl.ts';
import { admitOne } from './admitOne.ts';
import { type Admitted, CallsHandler, type CallsHandlerDependencies, tableOf } from './callsHandler.ts';
import { AnswerCompression } from './compression/answerCompression.ts';
import { answerExplorer } from './explorer/answerExplorer.ts';
import { explorerError } from './explorer/rows.ts';
import { HttpExchange } from './httpExchange.ts';
import type { KeyStore } from './keys/keyStore.ts';
import type { Rates } from './limits/rateLimits.ts';
import type { Live } from './live/live.ts';
import type { Method } from './method.ts';
import { DISCOVER_ROW } from './methods/discoverRow.ts';
import { pageFileOf, sendPage } from './methodsPage.ts';
import { GATEWAY_PREFIX, type GatewayResource, isGatewayUrl, Networks, pathOf, routeOf } from './networks.ts';
import { noRoom } from './noRoom.ts';
import { type OriginRule, originRule } from './origins.ts';
import { refusesAlike } from './refusesAlike.ts';
import { RequestBodies, type RequestBody } from './requestBodies.ts';
import { requestProblem } from './requestProblem.ts';
import { TurnBatcher } from './turnBatcher.ts';
import { handshakeProblem } from './webSocket/handshake.ts';
import { subscriptionEntries } from './webSocket/subscriptions.ts';
import { type Served, WebSocketGateway, type WebSocketOptions } from './webSocket/webSocketGateway.ts';

export interface GatewayOptions {
  readonly corsOrigins: readonly string[];
  readonly maxBodyBytes: number;
  /** Bytes that the answers of one batch may have together. */
  readonly maxAnswerBytes: number;
  /** Requests that are carried out at the same time. */
  readonly maxInFlight: number;
  /** Calls per second of one client address; 0 for any number. */
  readonly ratePerAddress: number;
  /** Addresses and networks whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Those that are served; empty for all. */
  readonly methods: readonly string[];
  readonly compression: 'auto' | 'off';
  readonly webSocket: WebSocketOptions;
}

export interface GatewayDependencies extends CallsHandlerDependencies {
  /** The methods of each network, by the network's name in the path. */
  readonly networks: ReadonlyMap<string, readonly Method[]>;
  /** What is pushed of each network, by the same names. */
  readonly live: ReadonlyMap<string, Live>;
  /** The id of a network's chain, in decimal; undefined until a node has told it. */
  readonly chainIdOf: (network: string) => string | undefined;
  readonly readers: Readers;
  readonly keys: KeyStore;
  /** Left out: those of this process alone. */
  readonly rates?: Rates | undefined;
  /** Whether the server takes no new requests any more. */
  readonly isStopping: () => boolean;
}

interface ServedNetwork extends Omit<Served, 'live'> {
  /** Undefined where nothing is pushed. */
  readonly live: Live | undefined;
}

/**
 * The JSON-RPC gateway: answers every request below /v1/. Whatever goes wrong, the body is a JSON-RPC error; the HTTP
 * status is that of docs/decisions/gateway.md. It stands on node:http itself: a cached answer costs less than a framework's reply.
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #dependencies: GatewayDependencies;
  readonly #networks: Networks<ServedNetwork>;
  readonly #admission: AdmissionControl;
  readonly #allowOrigin: OriginRule;
  readonly #served: string;
  readonly #turnBatcher = new TurnBatcher();
  readonly #bodies: RequestBodies;
  readonly #compression: AnswerCompression | undefined;
  readonly #webSockets: WebSocketGateway;

  constructor(options: GatewayOptions, dependencies: GatewayDependencies) {
    const { networks, metrics, live } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#networks = new Networks(
      new Map(
        [...networks].map(([name, methods]) => [
          name,
          {
            methods: tableOf(name, methods, metrics),
            live: live.get(name),
            entries: subscriptionEntries(name, metrics),
          },
        ]),
      ),
      dependencies.chainIdOf,
    );
    this.#bodies = new RequestBodies(options.maxBodyBytes);
    this.#compression =
      options.compression === 'off' ? undefined : new AnswerCompression(metrics.compressionResults());
    this.#admission = new AdmissionControl(options, dependencies);
    this.#allowOrigin = originRule(options.corsOrigins);
    this.#webSockets = new WebSocketGateway(
      { ...options, ...options.webSocket, maxMessageBytes: options.maxBodyBytes },
      dependencies,
      this.#admission,
    );
    this.#served = [...networks.keys()].map((name) => GATEWAY_PREFIX + name).join(' or ');
  }

  /** Whether a URL is the gateway's to answer. */
  handles(url: string | undefined): boolean {
    return isGatewayUrl(url);
  }

  handle(request: IncomingMessage, response: TrackedResponse): void {
    const { method } = request;
    const { path, query } = partsOf(request.url);
    const { network, resource } = pathOf(path);
    const exchange = this.#exchange(request, response, resource);
    const { tracer } = this.#dependencies;
    const span = tracer && beginHttpSpan(tracer, response, routeOf(resource));
    const methods = this.#networks.get(network)?.methods;
    if (methods === undefined)
      return exchange.send(404, invalidRequest(`nothing is served at this path; POST to ${this.#served}`));
    const page = pageFileOf(request, resource);
    if (page !== undefined) return sendPage(response, page, path);
    const verb = resource === 'methods' ? 'POST' : 'GET';
    if (method === 'OPTIONS') return exchange.preflight(verb);
    const problem = requestProblem(request, verb);
    if (problem !== undefined)
      return exchange.send(problem.status, invalidRequest(problem.message), ...problem.headers);
    if (this.#dependencies.isStopping()) return sendStopping(exchange);

    const permit = this.#admission.enter(request, query);
    if ('refusal' in permit) return exchange.send(permit.status, permit.refusal, ...permit.headers);
    response.whenOver(permit.release);
    span?.set('floodgate.network', network);
    const admitted = { methods, permit, space: response, faults: exchange, span };
    const handler = this.#handler(admitted);
    if (resource === 'document') return void answerDocument(exchange, handler);
    if (resource === 'explorer') return void answerExplorer(exchange, handler, query);
    this.#bodies.read(request, response, (body) => {
      if (this.#answer(exchange, handler, body) !== 403 || tracer !== undefined) return;
      // A request with the same head would come as far as this one has. Where requests are traced, each may be.
      response.refusesAlike = refusesAlike(exchange, {
        enter: () => (this.#dependencies.isStopping() ? undefined : this.#admission.enter(request, query)),
        handler: (again) => this.#handler({ ...admitted, permit: again }),
      });
    });
  }

  /** A client wants a WebSocket: it gets one, or the answer that any other request would get. */
  upgrade(upgrade: Upgrade): void {
    const { request, response } = upgrade;
    const { path, query } = partsOf(request.url);
    const { network, resource } = pathOf(path);
    const served = resource === 'methods' ? this.#networks.get(network) : undefined;
    if (served?.live === undefined || !this.#webSockets.isOffered) return this.handle(request, response);
    const { live } = served;
    const exchange = this.#exchange(request, response, resource);
    const problem = handshakeProblem(request, this.#allowOrigin(request.headers.origin));
    if (problem !== undefined)
      return exchange.send(problem.status, invalidRequest(problem.message), ...problem.headers);
    if (this.#dependencies.isStopping()) return sendStopping(exchange);
    this.#webSockets.open(upgrade, exchange, { served: { ...served, live }, query });
  }

  /** Closes the WebSockets, each when what it has asked for is answered. */
  drain(): void {
    this.#webSockets.drain();
  }

  #exchange(request: IncomingMessage, response: TrackedResponse, resource: GatewayResource): HttpExchange {
    return new HttpExchange(request, response, {
      turnBatcher: this.#turnBatcher,
      compression: this.#compression,
      allowedOrigin: this.#allowOrigin(request.headers.origin),
      errorBody: resource === 'explorer' ? explorerError : (error) => errorResponse(null, error),
    });
  }

  #handler(admitted: Admitted): CallsHandler {
    return new CallsHandler(this.#options.maxAnswerBytes, admitted, this.#dependencies);
  }

  /** Returns the status where that is known at once. */
  #answer(exchange: HttpExchange, handler: CallsHandler, body: RequestBody): number | undefined {
    if (body.kind === 'aborted') return undefined;
    if (body.kind === 'refused') {
      exchange.send(body.status, body.error);
      return body.status;
    }
    const send = (answer: HttpAnswer): void => exchange.answer(answer, handler.context);
    const answer = handleBody(body.bytes, handler);
    if (answer instanceof Promise) void answer.then(send);
    else send(answer);
    return answer instanceof Promise ? undefined : answer.status;
  }
}

/** A URL's path, and what stands behind its question mark. */
function partsOf(url = ''): { readonly path: string; readonly query: string } {
  const question = url.indexOf('?');
  return question === -1
    ? { path: url, query: '' }
    : { path: url.slice(0, question), query: url.slice(question + 1) };
}

const sendStopping = (exchange: HttpExchange): void =>
  exchange.send(
    503,
    new RpcError('resourceUnavailable', 'the gateway is stopping; try again'),
    'retry-after',
    '1',
  );

const invalidRequest = (message: string): RpcError => new RpcError('invalidRequest', message);

/** The OpenRPC document of a network; it counts as one call. */
async function answerDocument(exchange: HttpExchange, handler: CallsHandler): Promise<void> {
  try {
    await admitOne(handler);
    const document = await handler.handle({ id: null, method: DISCOVER_ROW.name, params: [] }, true);
    exchange.answer({ status: 200, parts: [document as Buffer] }, handler.context); // that is what its row's handler gives
  } catch (error) {
    const known = error instanceof RateLimitedError ? error : noRoom();
    exchange.send(known.status, known, 'retry-after', String(Math.ceil(known.retryAfterSeconds)));
  }
}
