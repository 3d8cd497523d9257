import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type CallHandler,
  errorResponse,
  handleBody,
  overLimit,
  RateLimitedError,
  RpcError,
} from '../rpc/index.ts';
import { type Access, authenticate } from './keys/authenticate.ts';
import type { KeyStore } from './keys/keyStore.ts';
import { RateLimits } from './limits/rateLimits.ts';
import type { CallContext, Method } from './method.ts';
import type { GatewayMetrics } from './metrics.ts';
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
  readonly keys: KeyStore;
  readonly metrics: GatewayMetrics;
}

const OTHER_METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** When too much runs at once, the next second is soon enough to try again. */
const BUSY_RETRY_SECONDS = 1;

interface NetworkRoute {
  Params: { network: string };
  Querystring: { key?: unknown };
}

type GatewayRequest = FastifyRequest<NetworkRoute>;

/**
 * The JSON-RPC gateway: `POST /v1/{network}`. Whatever goes wrong, the body is a JSON-RPC error; the HTTP status is that
 * of decisions.md B.
 */
export async function gateway(server: FastifyInstance, options: GatewayOptions): Promise<void> {
  const { metrics, maxBodyBytes } = options;
  const networks = new Map(
    [...options.networks].map(([name, methods]) => [name, tableOf(name, methods, metrics)]),
  );
  const allowOrigin = originRule(options.corsOrigins);
  const rates = new RateLimits();
  let inFlight = 0;

  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: maxBodyBytes },
    (_request, body, done) => done(null, body),
  );
  const refuse = (
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    error: RpcError,
  ): FastifyReply => {
    const origin = allowOrigin(request.headers.origin);
    if (origin !== undefined) reply.header('access-control-allow-origin', origin).header('vary', 'origin');
    return reply.code(status).type('application/json').send(errorResponse(null, error));
  };
  const notFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    refuse(
      request,
      reply,
      404,
      new RpcError('invalidRequest', `nothing is served at this path; POST to ${pathsOf(networks)}`),
    );
  server.setNotFoundHandler(notFound);
  server.setErrorHandler((error: Error & { statusCode?: number; code?: string }, request, reply) => {
    const { status, refusal } = refusalOf(error, request, maxBodyBytes);
    refuse(request, reply, status, refusal);
  });

  /** Before a body is read: is there room for the request, and may it come in at all. */
  const admitRequest = (request: GatewayRequest, reply: FastifyReply, done: () => void): void => {
    if (inFlight >= options.maxInFlight) {
      metrics.limited('in_flight');
      reply.header('retry-after', String(BUSY_RETRY_SECONDS));
      const data = { limit: options.maxInFlight };
      refuse(request, reply, 429, new RpcError('limitExceeded', 'too much runs at once; try again', data));
      return;
    }
    const access = authenticate(options.keys, request.headers.authorization, request.query.key);
    if (!access.granted) {
      metrics.limited('unauthorized');
      reply.header('www-authenticate', 'Bearer');
      refuse(request, reply, 401, new RpcError('unauthorized', access.reason));
      return;
    }
    accesses.set(request, access);
    inFlight++;
    reply.raw.once('close', () => inFlight--);
    done();
  };
  const accesses = new WeakMap<FastifyRequest, Extract<Access, { granted: true }>>();

  const admitCalls = (request: FastifyRequest, access: Access, calls: number): void => {
    const nowMs = performance.now();
    if (options.ratePerAddress > 0) {
      const waitSeconds = rates.take(`address ${request.ip}`, options.ratePerAddress, calls, nowMs);
      if (waitSeconds > 0) throw overRate('address_rate', options.ratePerAddress, waitSeconds, metrics);
    }
    const key = access.granted ? access.key : undefined;
    if (key?.ratePerSecond === undefined) return;
    const waitSeconds = rates.take(`key ${key.id}`, key.ratePerSecond, calls, nowMs);
    if (waitSeconds > 0) throw overRate('key_rate', key.ratePerSecond, waitSeconds, metrics);
  };

  const answer = async (request: GatewayRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const methods = networks.get(request.params.network);
    if (methods === undefined) return notFound(request, reply);
    const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
    const access = accesses.get(request) ?? { granted: true, key: undefined };
    const context: Context = { mayStream: false };
    const allowed = access.key?.methods;
    const handler: CallHandler = {
      maxBatchBytes: options.maxAnswerBytes,
      admit: (calls) => admitCalls(request, access, calls),
      supports: (name) => methods.has(name) && (allowed === undefined || allowed.includes(name)),
      handle(call, mayStream) {
        const entry = methods.get(call.method);
        if (entry === undefined)
          throw new RpcError('methodNotFound', 'the gateway does not support this method');
        // The entries of a batch each have a context of their own; a request alone tells where its answer is from.
        const own = mayStream ? context : { mayStream };
        own.mayStream = mayStream;
        return entry.observe(() => entry.method.handle(call.params, own));
      },
      fault: (error) => fault(error, request.log, request.id),
    };
    const answered = await handleBody(body, handler);
    if (answered.status === 403) metrics.limited('unsupported_method');
    respond(reply, answered, headersOf(request, allowOrigin, context));
    return reply;
  };
  const refuseMethod = async (request: GatewayRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (!networks.has(request.params.network)) return notFound(request, reply);
    if (request.method === 'OPTIONS') return preflight(reply, allowOrigin(request.headers.origin));
    reply.header('allow', 'POST, OPTIONS');
    return refuse(
      request,
      reply,
      405,
      new RpcError('invalidRequest', 'JSON-RPC requests are sent with POST'),
    );
  };
  for (const url of ['/:network', '/:network/']) {
    server.route<NetworkRoute>({ method: 'POST', url, onRequest: admitRequest, handler: answer });
    server.route<NetworkRoute>({ method: [...OTHER_METHODS], url, handler: refuseMethod });
  }
}

type Context = { -readonly [name in keyof CallContext]: CallContext[name] };

interface Entry {
  readonly method: Method;
  readonly observe: ReturnType<GatewayMetrics['observer']>;
}

const tableOf = (
  network: string,
  methods: readonly Method[],
  metrics: GatewayMetrics,
): ReadonlyMap<string, Entry> =>
  new Map(
    methods.map((method) => [method.name, { method, observe: metrics.observer(network, method.name) }]),
  );

/** The headers of an answer, as names and values in turn. */
function headersOf(
  request: FastifyRequest,
  allowOrigin: (origin: string | undefined) => string | undefined,
  { cache, node }: CallContext,
): string[] {
  const headers = ['x-request-id', request.id];
  const origin = allowOrigin(request.headers.origin);
  if (origin !== undefined) headers.push('access-control-allow-origin', origin, 'vary', 'origin');
  if (cache !== undefined) headers.push('x-floodgate-cache', cache);
  if (node !== undefined) headers.push('x-floodgate-upstream', node);
  return headers;
}

function overRate(
  limit: 'address_rate' | 'key_rate',
  ratePerSecond: number,
  waitSeconds: number,
  metrics: GatewayMetrics,
): RateLimitedError {
  metrics.limited(limit);
  const whose = limit === 'key_rate' ? 'this API key' : 'this address';
  const message = `too many calls of ${whose}: at most ${ratePerSecond} per second`;
  return new RateLimitedError(message, waitSeconds, { limit: ratePerSecond });
}

function fault(error: unknown, log: FastifyBaseLogger, requestId: string): RpcError {
  log.error({ err: error }, 'a request failed by a fault of ours');
  return new RpcError('internalError', `a fault of the gateway; its log has it as request ${requestId}`);
}

function refusalOf(
  error: Error & { statusCode?: number; code?: string },
  request: FastifyRequest,
  maxBodyBytes: number,
): { status: number; refusal: RpcError } {
  switch (error.statusCode) {
    case 413: {
      const requested = Number(request.headers['content-length'] ?? 0) || maxBodyBytes + 1;
      return { status: 413, refusal: overLimit('bytes of a body', maxBodyBytes, requested) };
    }
    case 415:
      return {
        status: 415,
        refusal: new RpcError('invalidRequest', 'the content type must be application/json'),
      };
    case 503:
      return {
        status: 503,
        refusal: new RpcError('resourceUnavailable', 'the gateway is stopping; try again'),
      };
    case 400:
      return { status: 400, refusal: new RpcError('invalidRequest', 'the HTTP request is malformed') };
    default:
      return { status: 500, refusal: fault(error, request.log, request.id) };
  }
}

function preflight(reply: FastifyReply, origin: string | undefined): FastifyReply {
  if (origin !== undefined) reply.header('access-control-allow-origin', origin).header('vary', 'origin');
  return reply
    .code(204)
    .header('access-control-allow-methods', 'POST')
    .header('access-control-allow-headers', 'content-type, authorization')
    .header('access-control-max-age', '86400')
    .send();
}

/** What `Access-Control-Allow-Origin` a request of an origin gets; undefined for none. */
function originRule(allowed: readonly string[]): (origin: string | undefined) => string | undefined {
  if (allowed.includes('*')) return () => '*';
  return (origin) => (origin !== undefined && allowed.includes(origin) ? origin : undefined);
}

const pathsOf = (networks: ReadonlyMap<string, unknown>): string =>
  [...networks.keys()].map((name) => `/v1/${name}`).join(' or ');
