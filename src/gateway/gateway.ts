import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Call,
  type CallHandler,
  errorResponse,
  type HttpAnswer,
  handleBody,
  overLimit,
  RpcError,
} from '../rpc/index.ts';
import { EndOfTurn } from './endOfTurn.ts';
import { Gatekeeper, type Granted } from './gatekeeper.ts';
import type { KeyStore } from './keys/keyStore.ts';
import type { CallContext, Method } from './method.ts';
import type { GatewayMetrics } from './metrics.ts';
import { type ReadBody, readBody } from './readBody.ts';
import type { Log } from './relay/startNetwork.ts';
import { respond } from './respond.ts';

export interface GatewayOptions {
  /** The methods of each network, by the network's name in the path. */
  readonly networks: ReadonlyMap<string, readonly Method[]>;
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
  readonly keys: KeyStore;
  readonly metrics: GatewayMetrics;
  readonly log: Log;
  /** Whether the server takes no new requests any more. */
  readonly isStopping: () => boolean;
}

/** All paths of the gateway are below. */
export const GATEWAY_PREFIX = '/v1/';

interface Entry {
  readonly method: Method;
  readonly observe: ReturnType<GatewayMetrics['observer']>;
}
type MethodTable = ReadonlyMap<string, Entry>;

/** The JSON content type, with or without parameters; nearly all send it without. */
const JSON_TYPE = 'application/json';
const JSON_TYPE_AND_MORE = /^application\/json *(?:;|$)/i;

/**
 * The JSON-RPC gateway: answers every request below /v1/. Whatever goes wrong, the body is a JSON-RPC error; the HTTP
 * status is that of decisions.md B. It stands on node:http itself: a kept answer costs less than a framework's reply.
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #networks: ReadonlyMap<string, MethodTable>;
  readonly #gatekeeper: Gatekeeper;
  readonly #allowOrigin: (origin: string | undefined) => string | undefined;
  readonly #served: string;
  readonly #endOfTurn = new EndOfTurn();

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#networks = new Map(
      [...options.networks].map(([name, methods]) => [name, tableOf(name, methods, options.metrics)]),
    );
    this.#gatekeeper = new Gatekeeper(options);
    this.#allowOrigin = originRule(options.corsOrigins);
    this.#served = [...this.#networks.keys()].map((name) => GATEWAY_PREFIX + name).join(' or ');
  }

  /** Whether a URL is the gateway's to answer. */
  handles(url: string | undefined): boolean {
    return url?.startsWith(GATEWAY_PREFIX) ?? false;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const exchange = new Exchange(
      request,
      response,
      this.#endOfTurn,
      this.#allowOrigin(request.headers.origin),
    );
    const { url = '', method, headers } = request;
    const question = url.indexOf('?');
    const methods = this.#networks.get(nameIn(question === -1 ? url : url.slice(0, question)));
    if (methods === undefined)
      return exchange.refuse(
        404,
        'invalidRequest',
        `nothing is served at this path; POST to ${this.#served}`,
      );
    if (method === 'OPTIONS') return exchange.preflight();
    if (method !== 'POST')
      return exchange.refuse(
        405,
        'invalidRequest',
        'JSON-RPC requests are sent with POST',
        'allow',
        'POST, OPTIONS',
      );
    const type = headers['content-type'] ?? '';
    if (type !== JSON_TYPE && !JSON_TYPE_AND_MORE.test(type))
      return exchange.refuse(415, 'invalidRequest', 'the content type must be application/json');
    if (this.#options.isStopping())
      return exchange.refuse(
        503,
        'resourceUnavailable',
        'the gateway is stopping; try again',
        'retry-after',
        '1',
      );

    const granted = this.#gatekeeper.enter(request, question === -1 ? '' : url.slice(question + 1));
    if ('refusal' in granted) return exchange.send(granted.status, granted.refusal, ...granted.headers);
    readBody(request, this.#options.maxBodyBytes, (body) => this.#answer(exchange, methods, granted, body));
  }

  #answer(exchange: Exchange, methods: MethodTable, granted: Granted, body: ReadBody): void {
    if (body.kind === 'aborted') return granted.leave();
    if (body.kind === 'tooLarge') {
      granted.leave();
      return exchange.send(413, overLimit('bytes of a body', this.#options.maxBodyBytes, body.bytes));
    }
    const handler = new ExchangeHandler(this.#options, methods, granted, exchange);
    const send = (answer: HttpAnswer): void => {
      // A stream goes on for as long as its client reads.
      if (answer.stream === undefined) granted.leave();
      else exchange.whenClosed(granted.leave);
      exchange.answer(answer, handler.context);
    };
    const answer = handleBody(body.bytes, handler);
    if (answer instanceof Promise) void answer.then(send);
    else send(answer);
  }
}

/** One HTTP request and its response. */
class Exchange {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #headers: string[];
  readonly #endOfTurn: EndOfTurn;
  #faultId: string | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    endOfTurn: EndOfTurn,
    allowedOrigin: string | undefined,
  ) {
    this.#request = request;
    this.#response = response;
    this.#endOfTurn = endOfTurn;
    this.#headers = [];
    if (allowedOrigin !== undefined) this.#headers.push('access-control-allow-origin', allowedOrigin);
    // What is allowed may differ from page to page: a cache in between must not mix them up.
    if (allowedOrigin !== undefined && allowedOrigin !== '*') this.#headers.push('vary', 'origin');
  }

  /** What a fault's line in the log is found by, sent as `X-Request-Id`. Other answers have none: nothing is logged of them. */
  faultId(): string {
    if (this.#faultId === undefined) {
      this.#faultId = randomUUID();
      this.#headers.push('x-request-id', this.#faultId);
    }
    return this.#faultId;
  }

  answer(answer: HttpAnswer, { cache, node }: CallContext): void {
    if (cache !== undefined) this.#headers.push('x-floodgate-cache', cache);
    if (node !== undefined) this.#headers.push('x-floodgate-upstream', node);
    this.#endOfTurn.send(() => respond(this.#response, answer, this.#headers), answer.status !== 200);
  }

  refuse(
    status: number,
    kind: ConstructorParameters<typeof RpcError>[0],
    message: string,
    ...headers: string[]
  ): void {
    this.send(status, new RpcError(kind, message), ...headers);
  }

  /** An error instead of an answer; the body of the request need not have been read. */
  send(status: number, error: RpcError, ...headers: string[]): void {
    const body = errorResponse(null, error);
    this.#headers.push(
      ...headers,
      'content-type',
      'application/json',
      'content-length',
      String(Buffer.byteLength(body)),
    );
    this.#response.writeHead(status, this.#headers);
    if (this.#request.complete) {
      this.#response.end(body);
      return;
    }
    // What is left of the body is read and forgotten, for as long as a request may take, and the answer ends after it: a
    // client that is hung up on while it sends would not get to read why.
    this.#response.write(body);
    this.#request.once('close', () => this.#response.end());
    this.#request.resume();
  }

  /** At once where the client is gone already: nobody would be told so again. */
  whenClosed(then: () => void): void {
    if (this.#response.destroyed) then();
    else this.#response.once('close', then);
  }

  preflight(): void {
    this.#headers.push('access-control-allow-methods', 'POST');
    this.#headers.push('access-control-allow-headers', 'content-type, authorization');
    this.#headers.push('access-control-max-age', '86400');
    this.#response.writeHead(204, this.#headers);
    this.#response.end();
  }
}

/** Carries out the calls of one request. */
class ExchangeHandler implements CallHandler {
  readonly maxBatchBytes: number;
  /** Of a request with a single call: where its answer came from. */
  readonly context: CallContext = { mayStream: true };
  readonly #options: GatewayOptions;
  readonly #methods: MethodTable;
  readonly #granted: Granted;
  readonly #exchange: Exchange;

  constructor(options: GatewayOptions, methods: MethodTable, granted: Granted, exchange: Exchange) {
    this.maxBatchBytes = options.maxAnswerBytes;
    this.#options = options;
    this.#methods = methods;
    this.#granted = granted;
    this.#exchange = exchange;
  }

  admit(calls: number): void {
    this.#granted.admit(calls);
  }

  supports(method: string): boolean {
    const supported = this.#methods.has(method) && this.#granted.mayCall(method);
    if (!supported) this.#options.metrics.limited('unsupported_method');
    return supported;
  }

  handle(call: Call, mayStream: boolean): ReturnType<CallHandler['handle']> {
    const entry = this.#methods.get(call.method);
    if (entry === undefined) throw new RpcError('methodNotFound', 'the gateway does not support this method');
    const context = mayStream ? this.context : { mayStream };
    return entry.observe(() => entry.method.handle(call.params, context));
  }

  fault(error: unknown): RpcError {
    const id = this.#exchange.faultId();
    this.#options.log.error({ err: error, requestId: id }, 'a request failed by a fault of ours');
    return new RpcError('internalError', `a fault of the gateway; its log has it as request ${id}`);
  }
}

const tableOf = (network: string, methods: readonly Method[], metrics: GatewayMetrics): MethodTable =>
  new Map(
    methods.map((method) => [method.name, { method, observe: metrics.observer(network, method.name) }]),
  );

/** The network's name in a path, with or without a slash behind it. */
const nameIn = (path: string): string =>
  path.slice(GATEWAY_PREFIX.length, path.endsWith('/') ? -1 : undefined);

/** What `Access-Control-Allow-Origin` a request of an origin gets; undefined for none. */
function originRule(allowed: readonly string[]): (origin: string | undefined) => string | undefined {
  if (allowed.includes('*')) return () => '*';
  return (origin) => (origin !== undefined && allowed.includes(origin) ? origin : undefined);
}
