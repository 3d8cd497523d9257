import type { IncomingMessage } from 'node:http';
import type { Readers, TrackedResponse } from '../../platform/http/index.ts';
import {
  errorResponse,
  type HttpAnswer,
  handleBody,
  overLimit,
  RateLimitedError,
  RpcError,
} from '../jsonrpc/index.ts';
import { AdmissionControl } from './admissionControl.ts';
import { CallsHandler, type CallsHandlerDependencies, type MethodTable, tableOf } from './callsHandler.ts';
import { answerExplorer } from './explorer/answerExplorer.ts';
import { explorerError } from './explorer/rows.ts';
import { HttpExchange } from './httpExchange.ts';
import type { KeyStore } from './keys/keyStore.ts';
import type { Method } from './method.ts';
import { DISCOVER_ROW } from './methods/discoverRow.ts';
import { GATEWAY_PREFIX, type GatewayResource, isGatewayUrl, Networks, pathOf } from './networks.ts';
import { noRoom } from './noRoom.ts';
import { type OriginRule, originRule } from './origins.ts';
import { type RequestBody, readRequestBody } from './readRequestBody.ts';
import { TurnBatcher } from './turnBatcher.ts';

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
}

export interface GatewayDependencies extends CallsHandlerDependencies {
  /** The methods of each network, by the network's name in the path. */
  readonly networks: ReadonlyMap<string, readonly Method[]>;
  /** The id of a network's chain, in decimal; undefined until a node has told it. */
  readonly chainIdOf: (network: string) => string | undefined;
  readonly readers: Readers;
  readonly keys: KeyStore;
  /** Whether the server takes no new requests any more. */
  readonly isStopping: () => boolean;
}

const NO_WEB_SOCKET =
  'there is no WebSocket, and there are no subscriptions: send JSON-RPC requests with POST to the same path over HTTP, and poll';

const otherVerb = (upgrade: string | undefined): string =>
  upgrade === undefined ? 'JSON-RPC requests are sent with POST' : NO_WEB_SOCKET;

/** The JSON content type, with or without parameters; nearly all send it without. */
const JSON_TYPE = 'application/json';
const JSON_TYPE_AND_MORE = /^application\/json *(?:;|$)/i;

/**
 * The JSON-RPC gateway: answers every request below /v1/. Whatever goes wrong, the body is a JSON-RPC error; the HTTP
 * status is that of docs/decisions/gateway.md. It stands on node:http itself: a cached answer costs less than a framework's reply.
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #dependencies: GatewayDependencies;
  readonly #networks: Networks<MethodTable>;
  readonly #admission: AdmissionControl;
  readonly #allowOrigin: OriginRule;
  readonly #served: string;
  readonly #turnBatcher = new TurnBatcher();

  constructor(options: GatewayOptions, dependencies: GatewayDependencies) {
    const { networks, metrics } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#networks = new Networks(
      new Map([...networks].map(([name, methods]) => [name, tableOf(name, methods, metrics)])),
      dependencies.chainIdOf,
    );
    this.#admission = new AdmissionControl(options, dependencies);
    this.#allowOrigin = originRule(options.corsOrigins);
    this.#served = [...networks.keys()].map((name) => GATEWAY_PREFIX + name).join(' or ');
  }

  /** Whether a URL is the gateway's to answer. */
  handles(url: string | undefined): boolean {
    return isGatewayUrl(url);
  }

  handle(request: IncomingMessage, response: TrackedResponse): void {
    const { url = '', method, headers } = request;
    const question = url.indexOf('?');
    const { network, resource } = pathOf(question === -1 ? url : url.slice(0, question));
    const exchange = new HttpExchange(request, response, {
      turnBatcher: this.#turnBatcher,
      allowedOrigin: this.#allowOrigin(headers.origin),
      errorBody: ERROR_BODIES[resource],
    });
    const methods = this.#networks.get(network);
    if (methods === undefined)
      return exchange.send(404, invalidRequest(`nothing is served at this path; POST to ${this.#served}`));
    const isPosted = resource === 'methods';
    const wanted = isPosted ? 'POST' : 'GET';
    if (method === 'OPTIONS') return exchange.preflight(wanted);
    if (method !== wanted)
      return exchange.send(
        405,
        invalidRequest(isPosted ? otherVerb(headers.upgrade) : 'this path is read with GET'),
        'allow',
        `${wanted}, OPTIONS`,
      );
    const type = headers['content-type'] ?? '';
    if (isPosted && type !== JSON_TYPE && !JSON_TYPE_AND_MORE.test(type))
      return exchange.send(415, invalidRequest('the content type must be application/json'));
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      return exchange.send(
        415,
        invalidRequest('the body must not be compressed: send it without Content-Encoding'),
        'accept-encoding',
        'identity',
      );
    if (this.#dependencies.isStopping())
      return exchange.send(
        503,
        new RpcError('resourceUnavailable', 'the gateway is stopping; try again'),
        'retry-after',
        '1',
      );

    const query = question === -1 ? '' : url.slice(question + 1);
    const permit = this.#admission.enter(request, query);
    if ('refusal' in permit) return exchange.send(permit.status, permit.refusal, ...permit.headers);
    response.whenOver(permit.release);
    const admitted = { methods, permit, space: response, faults: exchange };
    const handler = new CallsHandler(this.#options.maxAnswerBytes, admitted, this.#dependencies);
    if (resource === 'document') return answerDocument(exchange, handler);
    if (resource === 'explorer') return void answerExplorer(exchange, handler, query);
    readRequestBody(request, this.#options.maxBodyBytes, (body) => this.#answer(exchange, handler, body));
  }

  #answer(exchange: HttpExchange, handler: CallsHandler, body: RequestBody): void {
    if (body.kind === 'aborted') return;
    if (body.kind === 'tooLarge')
      return exchange.send(413, overLimit('bytes of a body', this.#options.maxBodyBytes, body.bytes));
    const send = (answer: HttpAnswer): void => exchange.answer(answer, handler.context);
    const answer = handleBody(body.bytes, handler);
    if (answer instanceof Promise) void answer.then(send);
    else send(answer);
  }
}

/** Errors before any is carried out, by what they are about. */
const ERROR_BODIES: Readonly<Record<GatewayResource, (error: RpcError) => string>> = {
  methods: (error) => errorResponse(null, error),
  document: (error) => errorResponse(null, error),
  explorer: explorerError,
};

const invalidRequest = (message: string): RpcError => new RpcError('invalidRequest', message);

/** The OpenRPC document of a network; it counts as one call. */
function answerDocument(exchange: HttpExchange, handler: CallsHandler): void {
  try {
    handler.admit(1);
    const document = handler.handle({ id: null, method: DISCOVER_ROW.name, params: [] }, false);
    exchange.answer({ status: 200, parts: [document as Buffer] }, handler.context); // that is what its row's handler gives
  } catch (error) {
    const known = error instanceof RateLimitedError ? error : noRoom();
    exchange.send(known.status, known, 'retry-after', String(Math.ceil(known.retryAfterSeconds)));
  }
}
