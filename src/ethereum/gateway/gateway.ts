import type { IncomingMessage } from 'node:http';
import type { Readers, TrackedResponse } from '../../platform/http/index.ts';
import type { Log } from '../../platform/logging/index.ts';
import {
  type Call,
  type CallHandler,
  type HttpAnswer,
  handleBody,
  isPooled,
  isStream,
  overLimit,
  type Result,
  RpcError,
} from '../jsonrpc/index.ts';
import { AdmissionControl, type Permit } from './admissionControl.ts';
import { HttpExchange } from './httpExchange.ts';
import type { KeyStore } from './keys/keyStore.ts';
import type { CallContext, Method } from './method.ts';
import type { GatewayMetrics } from './metrics.ts';
import { noRoom } from './noRoom.ts';
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

export interface GatewayDependencies {
  /** The methods of each network, by the network's name in the path. */
  readonly networks: ReadonlyMap<string, readonly Method[]>;
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
const GATEWAY_PREFIX = '/v1/';
/** The same without the slash: somebody left the network out. */
const GATEWAY_ROOT = /^\/v1(?:\?|$)/;

interface Entry {
  readonly method: Method;
  readonly observe: ReturnType<GatewayMetrics['observer']>;
}
type MethodTable = ReadonlyMap<string, Entry>;

const NO_WEB_SOCKET =
  'there is no WebSocket, and there are no subscriptions: send JSON-RPC requests with POST to the same path over HTTP, and poll';

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
  readonly #networks: ReadonlyMap<string, MethodTable>;
  readonly #admission: AdmissionControl;
  readonly #allowOrigin: (origin: string | undefined) => string | undefined;
  readonly #served: string;
  readonly #turnBatcher = new TurnBatcher();

  constructor(options: GatewayOptions, dependencies: GatewayDependencies) {
    const { networks, metrics } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#networks = new Map([...networks].map(([name, methods]) => [name, tableOf(name, methods, metrics)]));
    this.#admission = new AdmissionControl(options, dependencies);
    this.#allowOrigin = originRule(options.corsOrigins);
    this.#served = [...this.#networks.keys()].map((name) => GATEWAY_PREFIX + name).join(' or ');
  }

  /** Whether a URL is the gateway's to answer. */
  handles(url: string | undefined): boolean {
    return url !== undefined && (url.startsWith(GATEWAY_PREFIX) || GATEWAY_ROOT.test(url));
  }

  handle(request: IncomingMessage, response: TrackedResponse): void {
    const exchange = new HttpExchange(request, response, {
      turnBatcher: this.#turnBatcher,
      allowedOrigin: this.#allowOrigin(request.headers.origin),
    });
    const { url = '', method, headers } = request;
    const question = url.indexOf('?');
    const methods = this.#networks.get(nameIn(question === -1 ? url : url.slice(0, question)));
    if (methods === undefined)
      return exchange.send(404, invalidRequest(`nothing is served at this path; POST to ${this.#served}`));
    if (method === 'OPTIONS') return exchange.preflight();
    if (method !== 'POST')
      return exchange.send(
        405,
        invalidRequest(
          headers.upgrade === undefined ? 'JSON-RPC requests are sent with POST' : NO_WEB_SOCKET,
        ),
        'allow',
        'POST, OPTIONS',
      );
    const type = headers['content-type'] ?? '';
    if (type !== JSON_TYPE && !JSON_TYPE_AND_MORE.test(type))
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

    const permit = this.#admission.enter(request, question === -1 ? '' : url.slice(question + 1));
    if ('refusal' in permit) return exchange.send(permit.status, permit.refusal, ...permit.headers);
    response.whenOver(permit.release);
    const admitted = { methods, permit, exchange };
    readRequestBody(request, this.#options.maxBodyBytes, (body) => this.#answer(admitted, body));
  }

  #answer(admitted: Admitted, body: RequestBody): void {
    if (body.kind === 'aborted') return;
    const { exchange } = admitted;
    if (body.kind === 'tooLarge')
      return exchange.send(413, overLimit('bytes of a body', this.#options.maxBodyBytes, body.bytes));
    const handler = new CallsHandler(this.#options.maxAnswerBytes, admitted, this.#dependencies);
    const send = (answer: HttpAnswer): void => exchange.answer(answer, handler.context);
    const answer = handleBody(body.bytes, handler);
    if (answer instanceof Promise) void answer.then(send);
    else send(answer);
  }
}

const invalidRequest = (message: string): RpcError => new RpcError('invalidRequest', message);

/** A request that was admitted. */
interface Admitted {
  readonly methods: MethodTable;
  readonly permit: Permit;
  readonly exchange: HttpExchange;
}

/** Carries out the calls of one request. */
class CallsHandler implements CallHandler {
  readonly maxBatchBytes: number;
  /** Of a request with a single call: where its answer came from. */
  readonly context: CallContext;
  readonly #dependencies: GatewayDependencies;
  readonly #methods: MethodTable;
  readonly #permit: Permit;
  readonly #exchange: HttpExchange;

  constructor(
    maxBatchBytes: number,
    { methods, permit, exchange }: Admitted,
    dependencies: GatewayDependencies,
  ) {
    this.maxBatchBytes = maxBatchBytes;
    this.context = { mayStream: true, room: exchange.response, client: permit.client };
    this.#dependencies = dependencies;
    this.#methods = methods;
    this.#permit = permit;
    this.#exchange = exchange;
  }

  admit(calls: number): void {
    this.#permit.admit(calls);
  }

  supports(method: string): boolean {
    return this.#methods.has(method) && this.#permit.mayCall(method);
  }

  unsupported(): void {
    this.#dependencies.metrics.limited('unsupported_method');
  }

  handle(call: Call, mayStream: boolean): ReturnType<CallHandler['handle']> {
    const entry = this.#methods.get(call.method);
    if (entry === undefined) throw new RpcError('methodNotFound', 'the gateway does not support this method');
    const context = mayStream
      ? this.context
      : { mayStream, room: this.#exchange.response, client: this.#permit.client };
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
    } else if (isPooled(result)) {
      if (response.hold(result.bytes)) return result;
      result.release();
    } else if (response.hold(result)) return result;
    if (!response.isOver) this.#dependencies.metrics.limited('unsent_bytes');
    throw noRoom();
  }

  fault(error: unknown): RpcError {
    const id = this.#exchange.faultId();
    this.#dependencies.log.error({ err: error, requestId: id }, 'a request failed by a fault of ours');
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
