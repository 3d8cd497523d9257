import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readers, TrackedResponse } from '../../platform/http/index.ts';
import {
  type Call,
  type CallHandler,
  errorResponse,
  type HttpAnswer,
  handleBody,
  isLent,
  isStream,
  overLimit,
  type Result,
  RpcError,
} from '../jsonrpc/index.ts';
import { EndOfTurn } from './endOfTurn.ts';
import { Gatekeeper, type Granted } from './gatekeeper.ts';
import type { KeyStore } from './keys/keyStore.ts';
import type { CallContext, Method } from './method.ts';
import type { GatewayMetrics } from './metrics.ts';
import { noRoom } from './noRoom.ts';
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
  readonly readers: Readers;
  readonly keys: KeyStore;
  readonly metrics: GatewayMetrics;
  readonly log: Log;
  /** Whether the server takes no new requests any more. */
  readonly isStopping: () => boolean;
}

/**
 * What a stream counts for: a megabyte or two of its answer are held, and a connection to its node. By this, as things are
 * configured if nothing is said, streams hold half of the connections to a node at most, and as many are left for others.
 */
const STREAM_BYTES = 3 * 1024 * 1024;

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

  handle(request: IncomingMessage, response: TrackedResponse): void {
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
    response.whenOver(granted.leave);
    readBody(request, this.#options.maxBodyBytes, (body) => this.#answer(exchange, methods, granted, body));
  }

  #answer(exchange: Exchange, methods: MethodTable, granted: Granted, body: ReadBody): void {
    if (body.kind === 'aborted') return;
    if (body.kind === 'tooLarge')
      return exchange.send(413, overLimit('bytes of a body', this.#options.maxBodyBytes, body.bytes));
    const handler = new ExchangeHandler(this.#options, methods, granted, exchange);
    const send = (answer: HttpAnswer): void => exchange.answer(answer, handler.context);
    const answer = handleBody(body.bytes, handler);
    if (answer instanceof Promise) void answer.then(send);
    else send(answer);
  }
}

/** One HTTP request and its response. */
class Exchange {
  readonly #request: IncomingMessage;
  readonly response: TrackedResponse;
  readonly #headers: string[];
  readonly #endOfTurn: EndOfTurn;
  #faultId: string | undefined;

  constructor(
    request: IncomingMessage,
    response: TrackedResponse,
    endOfTurn: EndOfTurn,
    allowedOrigin: string | undefined,
  ) {
    this.#request = request;
    this.response = response;
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
    this.#endOfTurn.send(() => respond(this.response, answer, this.#headers), answer.status !== 200);
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
    this.response.writeHead(status, this.#headers);
    if (this.#request.complete) {
      this.response.end(body);
      return;
    }
    // What is left of the body is read and forgotten, for as long as a request may take, and the answer ends after it: a
    // client that is hung up on while it sends would not get to read why.
    this.response.write(body);
    this.#request.once('close', () => this.response.end());
    this.#request.resume();
  }

  preflight(): void {
    this.#headers.push('access-control-allow-methods', 'POST');
    this.#headers.push('access-control-allow-headers', 'content-type, authorization');
    this.#headers.push('access-control-max-age', '86400');
    this.response.writeHead(204, this.#headers);
    this.response.end();
  }
}

/** Carries out the calls of one request. */
class ExchangeHandler implements CallHandler {
  readonly maxBatchBytes: number;
  /** Of a request with a single call: where its answer came from. */
  readonly context: CallContext;
  readonly #options: GatewayOptions;
  readonly #methods: MethodTable;
  readonly #granted: Granted;
  readonly #exchange: Exchange;

  constructor(options: GatewayOptions, methods: MethodTable, granted: Granted, exchange: Exchange) {
    this.maxBatchBytes = options.maxAnswerBytes;
    this.context = { mayStream: true, room: exchange.response };
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
    const context = mayStream ? this.context : { mayStream, room: this.#exchange.response };
    return entry.observe(() => {
      const result = entry.method.handle(call.params, context);
      // What was changed is not to be refused for want of room for a few bytes more.
      if (entry.method.changesState === true) return result;
      return result instanceof Promise ? result.then((known) => this.#held(known)) : this.#held(result);
    });
  }

  changesState(method: string): boolean {
    return this.#methods.get(method)?.method.changesState === true;
  }

  /** A result with room for it until its last byte is taken. Throws RateLimitedError where there is none. */
  #held(result: Result): Result {
    const { response } = this.#exchange;
    if (isStream(result)) {
      if (response.holdStream(STREAM_BYTES)) return result;
      result.abort();
    } else if (isLent(result)) {
      if (response.hold(result.bytes)) return result;
      result.release();
    } else if (response.hold(result)) return result;
    if (!response.isOver) this.#options.metrics.limited('unsent_bytes');
    throw noRoom();
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
