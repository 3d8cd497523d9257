import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isAccountId } from '../index.ts';
import { type Authenticator, authorize, type Caller } from './authenticate.ts';
import type { RateLimiter } from './rateLimit.ts';
import type { ApiRequest } from './request.ts';
import type { Route } from './routes.ts';
import { notFound } from './ruleHandlers.ts';

interface Gate {
  readonly authenticator: Authenticator;
  readonly rateLimiter: RateLimiter | undefined;
}

/** Names the caller of a request between the hook that authenticates it and its handler. */
const callers = new WeakMap<FastifyRequest, Caller>();

/** The caller of an operation that is open to everyone. */
const nobody: Caller = { tokenId: '', accounts: [], permissions: [], expiresOn: null };

/** Puts the table's routes into the framework, each with and without a trailing slash. */
export function addRoutes(fastify: FastifyInstance, routes: readonly Route[], gate: Gate): void {
  for (const route of routes) {
    const method = route.method === 'GET' ? (['GET', 'HEAD'] as const) : [route.method];
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const url of [path, `${path}/`]) {
      // A server that ignores trailing slashes everywhere has the second one already.
      if (fastify.hasRoute({ method: route.method, url: fastify.prefix + url })) continue;
      fastify.route({
        method: [...method],
        url,
        exposeHeadRoute: false,
        // Before the body is read: who may not write costs no memory.
        onRequest: (request, reply) => admit(route, gate, request, reply),
        handler: (request, reply) => serve(route, request, reply),
      });
    }
  }
}

async function admit(route: Route, gate: Gate, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (route.open) return;
  const caller = await gate.authenticator.authenticate(request.headers.authorization);
  callers.set(request, caller);
  if (gate.rateLimiter) reply.headers(gate.rateLimiter.count(caller.tokenId));
  if (route.permission) {
    const accountId = param(request, 'account_id');
    if (!isAccountId(accountId)) throw notFound({ path: pathOf(request) });
    authorize(caller, accountId, route.permission);
  }
  // The framework refuses types that it cannot parse; here the type is not looked at (decisions A).
  delete request.raw.headers['content-type'];
}

async function serve(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const caller = route.open ? nobody : callers.get(request);
  if (!caller) throw new Error(`${route.operationId} was reached without authentication`);
  const { body, type, headers } = await route.handle(apiRequest(request, caller));
  if (headers) reply.headers(headers);
  return reply.type(type ?? 'application/json').send(body);
}

function apiRequest(request: FastifyRequest, caller: Caller): ApiRequest {
  return {
    caller,
    actor: { by: caller.tokenId, from: request.ip },
    accountId: param(request, 'account_id'),
    ruleId: param(request, 'rule_id'),
    path: pathOf(request),
    query: request.query as Record<string, unknown>, // the framework's query is an object of strings and lists
    headers: request.headers,
    body: request.body,
  };
}

function param(request: FastifyRequest, name: string): string {
  const params = request.params as Record<string, string>; // the framework's params are an object of strings
  return params[name] ?? '';
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}
