import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Route } from '../routes/route.ts';
import { errorEnvelope } from './envelope.ts';
import { ApiError, asApiError, type ErrorCase, methodNotAllowed } from './errors.ts';

/** Minimum interval between log messages about an unavailable store. */
const REPEATED_COMPLAINT_MS = 5_000;

/** Statuses of requests that were rejected because of their token: invalid, not allowed, above the rate limit. */
const REJECTED: readonly number[] = [401, 403, 429];

/** Returns the error handler of an API. `rejected` is called for each request that is rejected because of its token. */
export function errorSender(rejected: (request: FastifyRequest) => void = () => undefined) {
  let complainedAtMs = Number.NEGATIVE_INFINITY;
  let unavailableAnswers = 0;

  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    // The client has disconnected, which is not an error of the server.
    if (hasHungUp(request)) return send(reply, new ApiError('malformedJson'));
    const known = asApiError(error);
    if (!known) {
      // The stack of the error is logged and never sent. The client receives the request id, for questions to the
      // operator.
      request.log.error({ err: error, requestId: request.id }, 'request to the rules API failed');
      const message = `Internal error; the request id is ${request.id}`;
      return send(reply, new ApiError('internal', { message }));
    }
    if (REJECTED.includes(known.status)) rejected(request);
    if (known.status >= 500) {
      unavailableAnswers++;
      if (performance.now() - complainedAtMs >= REPEATED_COMPLAINT_MS) {
        complainedAtMs = performance.now();
        const reason = error instanceof Error ? error.message : String(error);
        request.log.error({ unavailableAnswers, reason }, 'rule store unavailable: rejecting changes');
      }
    }
    return send(reply, known);
  };
}

/**
 * Returns the handler for requests that match no route. It sends 405 with `Allow` if the path has other methods,
 * otherwise 404.
 */
export function unroutedSender(routes: readonly Route[], prefix: string) {
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = allowedMethods(routes, path.slice(prefix.length));
    if (allowed.length === 0) return send(reply, new ApiError('noRoute'));
    return send(reply, methodNotAllowed(request.method, allowed.join(', ')));
  };
}

const UNROUTED: Readonly<Record<number, ErrorCase>> = {
  403: 'certificateRefused',
  408: 'requestTimeout',
  417: 'expectationFailed',
  421: 'hostRefused',
  429: 'rateLimited',
  431: 'headersTooLarge',
};

/** Returns the error envelope for a request that reaches no route: it is invalid HTTP, or the server rejected it. */
export function unroutedEnvelope(status: number, message?: string): string {
  const error = UNROUTED[status] ?? 'malformedRequest';
  return errorEnvelope(new ApiError(error, message === undefined ? {} : { message }).entries);
}

/**
 * Sends the error response for a URL of the rules API that cannot be decoded. Called by the server's error handler.
 */
export function sendBadUrl(reply: FastifyReply): FastifyReply {
  return send(reply, new ApiError('noRoute'));
}

function hasHungUp({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete;
}

function allowedMethods(routes: readonly Route[], path: string): string[] {
  const taken = routes.filter((route) => patternOf(route).test(path));
  // A literal path takes precedence over a path with an id.
  const literal = taken.filter((route) => !route.path.includes('{'));
  const matching = (literal.length > 0 ? literal : taken).map((route) => route.method);
  return matching.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

function patternOf({ path, exactPath }: Route): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}${exactPath ? '' : '/?'}$`);
}

function send(reply: FastifyReply, error: ApiError): FastifyReply {
  // Fastify adds `Connection: close` when it rejects a body, and a client that still sends the body could then lose the
  // response. The header is not removed, because node would then not announce a connection that it closes itself.
  if (reply.hasHeader('connection'))
    reply.header('connection', reply.raw.shouldKeepAlive ? 'keep-alive' : 'close');
  return reply
    .code(error.status)
    .headers(error.headers)
    .type('application/json')
    .send(errorEnvelope(error.entries));
}
