import type { IncomingMessage } from 'node:http';
import { failureReporter, inBackground } from '../../platform/background/index.ts';
import {
  identifyClient,
  type Readers,
  retryAfter,
  type TrackedResponse,
  type Upgrade,
} from '../../platform/http/index.ts';
import type { Scheduler } from '../../platform/scheduler/index.ts';
import { beginHttpSpan } from '../../platform/spans/index.ts';
import { errorResponse, type HttpAnswer, handleBody, RateLimitedError, RpcError } from '../jsonrpc/index.ts';
import type { CallLimits } from './callLimits.ts';
import { AdmissionControl, type Refusal } from './http/admissionControl.ts';
import { admitOne } from './http/admitOne.ts';
import { type Admitted, CallsHandler, tableOf } from './http/callsHandler.ts';
import { AnswerCompression } from './http/compression/answerCompression.ts';
import { HttpExchange } from './http/httpExchange.ts';
import type { Rates } from './http/limits/rateLimits.ts';
import { memoryLimitError } from './http/memoryLimitError.ts';
import { type OriginRule, originRule } from './http/origins.ts';
import { RequestBodies, type RequestBody } from './http/requestBodies.ts';
import { requestProblem } from './http/requestProblem.ts';
import { TickBatcher } from './http/tickBatcher.ts';
import type { KeyStore } from './keys/keyStore.ts';
import type { Method } from './method.ts';
import { DISCOVER_ROW } from './methods/rows/discoverRow.ts';
import { pageFileOf, sendPage } from './methodsPage.ts';
import { GATEWAY_PREFIX, type GatewayResource, isGatewayUrl, Networks, pathOf, routeOf } from './networks.ts';
import type { Live } from './push/live/live.ts';
import { handshakeProblem } from './push/webSocket/handshake.ts';
import { subscriptionEntries } from './push/webSocket/subscriptions.ts';
import {
  type Served,
  WebSocketGateway,
  type WebSocketGatewayDependencies,
  type WebSocketOptions,
} from './push/webSocket/webSocketGateway.ts';
import { answerExplorer } from './traceIndex/explorer/answerExplorer.ts';
import { explorerError } from './traceIndex/explorer/rows.ts';

export interface GatewayOptions {
  readonly corsOrigins: readonly string[];
  readonly maxBodyBytes: number;
  readonly maxAnswerBytes: number;
  readonly maxInFlight: number;
  /** Maximum number of calls per second from one client address. 0: no limit. */
  readonly ratePerAddress: number;
  readonly instances?: number;
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** Names of the methods to serve. Empty: all methods. */
  readonly methods: readonly string[];
  readonly limits: CallLimits;
  readonly compression: 'auto' | 'off';
  readonly webSocket: WebSocketOptions;
}

export interface GatewayDependencies extends WebSocketGatewayDependencies {
  /** Methods by network name. The name is part of the URL path. */
  readonly networks: ReadonlyMap<string, readonly Method[]>;
  readonly live: ReadonlyMap<string, Live>;
  /** Returns the chain id of a network as a decimal string. Undefined until a node has reported it. */
  readonly chainIdOf: (network: string) => string | undefined;
  readonly readers: Readers;
  readonly scheduler: Scheduler;
  readonly keys: KeyStore;
  /** Rate limits that all processes share. Default: rate limits of this process only. */
  readonly rates?: Rates | undefined;
}

interface ServedNetwork extends Omit<Served, 'live'> {
  readonly live: Live | undefined;
}

interface Answering {
  readonly exchange: HttpExchange;
  readonly handler: CallsHandler;
  /** Called when the work of the request has ended. */
  readonly ended: () => void;
}

/**
 * JSON-RPC gateway for all paths that start with /v1/. The body of an error response is always a JSON-RPC error, and
 * the HTTP status follows docs/internals/decisions/gateway.md. Uses node:http, because a framework costs more per response than a
 * cached result.
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #dependencies: GatewayDependencies;
  readonly #networks: Networks<ServedNetwork>;
  readonly #admission: AdmissionControl;
  readonly #allowOrigin: OriginRule;
  readonly #served: string;
  readonly #turnBatcher: TickBatcher;
  readonly #bodies: RequestBodies;
  readonly #compression: AnswerCompression | undefined;
  readonly #webSockets: WebSocketGateway;
  #isDraining = false;

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
    this.#turnBatcher = new TickBatcher(dependencies.scheduler);
    this.#bodies = new RequestBodies(options.maxBodyBytes, dependencies.unfinished, dependencies.scheduler);
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

  /** Returns the id of the API key that a request may use. */
  keyIdOf(request: IncomingMessage): string | undefined {
    const { path, query } = partsOf(request.url);
    return this.#admission.keyIdOf(request, { query, key: pathOf(path).key });
  }

  handles(url: string | undefined): boolean {
    return isGatewayUrl(url);
  }

  handle(request: IncomingMessage, response: TrackedResponse): void {
    const { method } = request;
    const { path, query } = partsOf(request.url);
    const { network, resource, key } = pathOf(path);
    const exchange = this.#exchange(request, response, resource);
    const { tracer } = this.#dependencies;
    const span = tracer && beginHttpSpan(tracer, response, routeOf(resource));
    const methods = this.#networks.get(network)?.methods;
    if (methods === undefined)
      return exchange.send(404, invalidRequest(`unknown path; POST to ${this.#served}`));
    const page = key === undefined ? pageFileOf(request, resource) : undefined;
    if (page !== undefined) return sendPage(response, page, path);
    const verb = resource === 'methods' ? 'POST' : 'GET';
    if (method === 'OPTIONS') return exchange.preflight(verb);
    const problem = requestProblem(request, verb);
    if (problem !== undefined)
      return exchange.send(problem.status, invalidRequest(problem.message), ...problem.headers);

    const permit = this.#admission.admit(request, { query, key });
    if ('refusal' in permit) return sendRefusal(exchange, permit);
    span?.set('floodgate.network', network);
    const { readers, scheduler } = this.#dependencies;
    const { keyId } = permit;
    if (keyId !== undefined) identifyClient(request, { ...readers.clientOf(request), keyId });
    const client = readers.clientOf(request);
    const admitted = {
      methods,
      permit,
      turns: { scheduler, client },
      space: response,
      faults: exchange,
      span,
    };
    const handler = this.#handler(admitted);
    /** Acquires slots of `maxInFlight`. Called when the body is complete, so that slow senders occupy none. */
    const start = (bodyBytes: number, isLate: boolean): boolean => {
      const refusal = permit.start(bodyBytes, isLate);
      if (refusal !== undefined) sendRefusal(exchange, refusal);
      return refusal === undefined;
    };
    /** To be called when the work has ended, which may be long after the client has disconnected. */
    const ended = (): void => response.onFinished(permit.release);
    if (resource !== 'methods') {
      if (!start(0, false)) return;
      return inBackground('HTTP response', () =>
        (resource === 'document'
          ? answerDocument(exchange, handler)
          : answerExplorer(exchange, handler, query)
        ).finally(ended),
      );
    }
    let isLate = false;
    this.#bodies.read({ request, response, client }, (body) => {
      const isDelayed = isLate || scheduler.isBusy;
      scheduler.run(client, () => {
        // The client may have disconnected while the request waited for its turn.
        const isWanted =
          !response.isFinished && (body.kind !== 'whole' || start(body.bytes.length, isDelayed));
        if (isWanted) this.#answer({ exchange, handler, ended }, body);
        response.bodyHandled?.();
      });
    });
    isLate = true;
  }

  /** Opens a WebSocket, or responds with an HTTP error if the upgrade is rejected. */
  upgrade(upgrade: Upgrade): void {
    const { request, response } = upgrade;
    const { path, query } = partsOf(request.url);
    const { network, resource, key } = pathOf(path);
    const served = resource === 'methods' ? this.#networks.get(network) : undefined;
    if (served?.live === undefined || !this.#webSockets.isOffered) return this.handle(request, response);
    const { live } = served;
    const exchange = this.#exchange(request, response, resource);
    const problem = handshakeProblem(request, this.#allowOrigin(request.headers.origin));
    if (problem !== undefined)
      return exchange.send(problem.status, invalidRequest(problem.message), ...problem.headers);
    if (this.#isDraining) return sendStopping(exchange);
    this.#webSockets.open(upgrade, exchange, { served: { ...served, live }, url: { query, key } });
  }

  /** Closes each WebSocket after its pending requests were answered, and opens no further ones. */
  drain(): void {
    this.#isDraining = true;
    this.#webSockets.drain();
  }

  #exchange(request: IncomingMessage, response: TrackedResponse, resource: GatewayResource): HttpExchange {
    return new HttpExchange(request, response, {
      tickBatcher: this.#turnBatcher,
      compression: this.#compression,
      allowedOrigin: this.#allowOrigin(request.headers.origin),
      errorBody: resource === 'explorer' ? explorerError : (error) => errorResponse(null, error),
    });
  }

  #handler(admitted: Admitted): CallsHandler {
    return new CallsHandler(this.#options.maxAnswerBytes, admitted, this.#dependencies);
  }

  #answer({ exchange, handler, ended }: Answering, body: RequestBody): void {
    if (body.kind === 'aborted') return;
    if (body.kind === 'refused')
      return exchange.send(body.status, body.error, ...(body.status === 429 ? RETRY_AFTER : []));
    const send = (answer: HttpAnswer): void => exchange.answer(answer, handler.context);
    const answer = handleBody(body.bytes, handler);
    if (answer instanceof Promise) answer.finally(ended).then(send).catch(failureReporter('HTTP response'));
    else {
      ended();
      send(answer);
    }
  }
}

/** Retry-After header of one second. By then, some responses to the client address will have been read or closed. */
const RETRY_AFTER = ['retry-after', retryAfter(1)];

function partsOf(url = ''): { readonly path: string; readonly query: string } {
  const question = url.indexOf('?');
  return question === -1
    ? { path: url, query: '' }
    : { path: url.slice(0, question), query: url.slice(question + 1) };
}

const sendRefusal = (exchange: HttpExchange, { status, refusal, headers }: Refusal): void =>
  exchange.send(status, refusal, ...headers);

const sendStopping = (exchange: HttpExchange): void =>
  exchange.send(
    503,
    new RpcError('resourceUnavailable', 'the gateway is stopping; try again'),
    ...RETRY_AFTER,
  );

const invalidRequest = (message: string): RpcError => new RpcError('invalidRequest', message);

/** Responds with the OpenRPC document of a network. The request counts as one call. */
async function answerDocument(exchange: HttpExchange, handler: CallsHandler): Promise<void> {
  try {
    await admitOne(handler);
    const document = await handler.handle({ id: null, method: DISCOVER_ROW.name, params: [] }, true);
    exchange.answer({ status: 200, parts: [document as Buffer] }, handler.context); // the handler of `rpc.discover` returns a Buffer
  } catch (error) {
    const known = error instanceof RateLimitedError ? error : memoryLimitError();
    exchange.send(known.status, known, 'retry-after', retryAfter(known.retryAfterSeconds));
  }
}
