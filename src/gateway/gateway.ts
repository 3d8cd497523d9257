import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type CallHandler, errorResponse, handleBody, overLimit, RpcError } from '../rpc/index.ts';
import type { Method } from './method.ts';
import type { GatewayMetrics } from './metrics.ts';

export interface GatewayOptions {
  /** The methods of each network, by the network's name in the path. */
  readonly networks: ReadonlyMap<string, readonly Method[]>;
  readonly corsOrigins: readonly string[];
  readonly maxBodyBytes: number;
  readonly metrics: GatewayMetrics;
}

const OTHER_METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

interface NetworkRoute {
  Params: { network: string };
}

/**
 * The JSON-RPC gateway: `POST /v1/{network}`. Whatever goes wrong, the body is a JSON-RPC error; the HTTP status is that
 * of decisions.md B.
 */
export async function gateway(server: FastifyInstance, options: GatewayOptions): Promise<void> {
  const networks = new Map([...options.networks].map(([name, methods]) => [name, tableOf(methods)]));
  const allowOrigin = originRule(options.corsOrigins);

  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: options.maxBodyBytes },
    (_request, body, done) => done(null, body),
  );
  const notFound = (reply: FastifyReply): FastifyReply =>
    refuse(
      reply,
      404,
      new RpcError('invalidRequest', `nothing is served at this path; POST to ${pathsOf(networks)}`),
    );
  server.setNotFoundHandler((_request, reply) => notFound(reply));
  server.setErrorHandler((error: Error & { statusCode?: number; code?: string }, request, reply) => {
    const { status, refusal } = refusalOf(error, request, options.maxBodyBytes);
    refuse(reply, status, refusal);
  });
  server.addHook('onRequest', async (request, reply) => {
    const origin = allowOrigin(request.headers.origin);
    if (origin !== undefined) reply.header('access-control-allow-origin', origin).header('vary', 'origin');
  });

  const answer = async (
    request: FastifyRequest<NetworkRoute>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const methods = networks.get(request.params.network);
    if (methods === undefined) return notFound(reply);
    const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
    const { status, parts } = await handleBody(body, callHandler(methods, request, options.metrics));
    reply.code(status);
    return parts.length === 0 ? reply.send() : reply.type('application/json').send(Buffer.concat(parts));
  };
  const refuseMethod = async (
    request: FastifyRequest<NetworkRoute>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    if (!networks.has(request.params.network)) return notFound(reply);
    if (request.method === 'OPTIONS') return preflight(reply);
    reply.header('allow', 'POST, OPTIONS');
    return refuse(reply, 405, new RpcError('invalidRequest', 'JSON-RPC requests are sent with POST'));
  };
  for (const url of ['/:network', '/:network/']) {
    server.route<NetworkRoute>({ method: 'POST', url, handler: answer });
    server.route<NetworkRoute>({ method: [...OTHER_METHODS], url, handler: refuseMethod });
  }
}

type MethodTable = ReadonlyMap<string, Method>;

const tableOf = (methods: readonly Method[]): MethodTable =>
  new Map(methods.map((method) => [method.name, method]));

function callHandler(methods: MethodTable, request: FastifyRequest, metrics: GatewayMetrics): CallHandler {
  return {
    supports: (name) => methods.has(name),
    handle(call) {
      const method = methods.get(call.method);
      if (method === undefined)
        throw new RpcError('methodNotFound', 'the gateway does not support this method');
      return metrics.observe(method.name, () => method.handle(call.params));
    },
    fault: (error) => fault(error, request.log, request.id),
  };
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

function refuse(reply: FastifyReply, status: number, error: RpcError): FastifyReply {
  return reply.code(status).type('application/json').send(errorResponse(null, error));
}

function preflight(reply: FastifyReply): FastifyReply {
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
