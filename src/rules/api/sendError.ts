import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorEnvelope } from './envelope.ts';
import { ApiError, asApiError, type ErrorCase } from './errors.ts';
import type { Route } from './route.ts';

/** While a store stays unavailable it is complained about this often, not at every request that it fails. */
const REPEATED_COMPLAINT_MS = 5_000;

/** Makes the function that answers whatever was thrown while a request of a route was served. */
export function errorSender() {
  let complainedAtMs = Number.NEGATIVE_INFINITY;
  let unavailableAnswers = 0;

  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    // Nobody is left to be answered, and nothing went wrong here.
    if (hasHungUp(request)) return send(reply, new ApiError('malformedJson'));
    const known = asApiError(error);
    if (!known) {
      // The stack goes to the log and never to the client, who gets the id to ask about.
      request.log.error({ err: error, requestId: request.id }, 'a request to the rules API failed');
      const message = `Internal error; the request id is ${request.id}`;
      return send(reply, new ApiError('internal', { message }));
    }
    if (known.status >= 500) {
      unavailableAnswers++;
      if (performance.now() - complainedAtMs >= REPEATED_COMPLAINT_MS) {
        complainedAtMs = performance.now();
        const reason = error instanceof Error ? error.message : String(error);
        request.log.error(
          { unavailableAnswers, reason },
          'the rule store is unavailable: changes are refused',
        );
      }
    }
    return send(reply, known);
  };
}

/** Makes the function that answers what no route took: 405 with `Allow` where the path has other methods, else 404. */
export function unroutedSender(routes: readonly Route[], prefix: string) {
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = allowedMethods(routes, path.slice(prefix.length));
    if (allowed.length === 0) return send(reply, new ApiError('noRoute'));
    return send(reply, new ApiError('methodNotAllowed', { headers: { allow: allowed.join(', ') } }));
  };
}

const UNROUTED: Readonly<Record<number, ErrorCase>> = {
  403: 'certificateRefused',
  408: 'requestTimeout',
  421: 'hostRefused',
  431: 'headersTooLarge',
};

/** The envelope for a request that no route gets to see, as its HTTP cannot be read or it is refused with a message. */
export function unroutedEnvelope(status: number, message?: string): string {
  const error = UNROUTED[status] ?? 'malformedRequest';
  return errorEnvelope(new ApiError(error, message === undefined ? {} : { message }).entries);
}

/** Answers a URL below the prefix that cannot be decoded, for the server's handler of framework errors. */
export function sendBadUrl(reply: FastifyReply): FastifyReply {
  return send(reply, new ApiError('noRoute'));
}

/** Whether the client went away before its request was whole. */
function hasHungUp({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete;
}

function allowedMethods(routes: readonly Route[], path: string): string[] {
  const taken = routes.filter((route) => patternOf(route).test(path));
  // A path that is written out is never that of an id.
  const literal = taken.filter((route) => !route.path.includes('{'));
  const matching = (literal.length > 0 ? literal : taken).map((route) => route.method);
  return matching.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

function patternOf({ path, exactPath }: Route): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}${exactPath ? '' : '/?'}$`);
}

function send(reply: FastifyReply, error: ApiError): FastifyReply {
  // The framework would close behind a body that is too large; a client that still sends it, or a worker for one, may then lose the answer.
  return reply
    .removeHeader('connection')
    .code(error.status)
    .headers(error.headers)
    .type('application/json')
    .send(errorEnvelope(error.entries));
}
