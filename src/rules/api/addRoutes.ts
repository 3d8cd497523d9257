import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isAccountId } from '../index.ts';
import {
  type Authenticator,
  authorize,
  authorizeAnywhere,
  authorizeOperator,
  type Caller,
} from './authenticate.ts';
import type { RateLimiter } from './rateLimit.ts';
import type { ApiRequest } from './request.ts';
import type { Route } from './route.ts';
import { notFound } from './ruleHandlers.ts';
import type { TokenUses } from './tokenUses.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends a request to the rules API, once that is known. */
    rulesCaller: Caller | null;
  }
}

interface Gate {
  readonly authenticator: Authenticator;
  readonly uses: Pick<TokenUses, 'notAllowed'>;
  readonly rateLimiter: RateLimiter | undefined;
  readonly clientAddress: (request: IncomingMessage) => string;
  readonly staleSeconds: (() => number | undefined) | undefined;
}

/** What the framework keeps of a route. */
export interface RouteConfig {
  readonly operationId?: string;
}

/** Written out, so that the framework need not complete it for each answer. */
const JSON_TYPE = 'application/json; charset=utf-8';

/** The caller of an operation that is open to everyone. */
const nobody: Caller = { tokenId: '', accounts: [], permissions: [], expiresOn: null };

/** Puts the table's routes into the framework, each with and without a trailing slash unless its path is exact. */
export function addRoutes(fastify: FastifyInstance, routes: readonly Route[], gate: Gate): void {
  fastify.decorateRequest('rulesCaller', null);
  for (const route of routes) {
    const method = route.method === 'GET' ? (['GET', 'HEAD'] as const) : [route.method];
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const url of route.exactPath ? [path] : [path, `${path}/`]) {
      fastify.route({
        method: [...method],
        url,
        exposeHeadRoute: false,
        config: { operationId: route.operationId } satisfies RouteConfig,
        ...(route.method === 'GET' ? admittedInside(route, gate) : admittedBefore(route, gate)),
      });
    }
  }
}

/** Where there is no body, all in one step: an asynchronous hook would cost as much as the rest of a list. */
function admittedInside(route: Route, gate: Gate) {
  return {
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      await admit(route, gate, { request, reply });
      return serve(route, gate, { request, reply });
    },
  };
}

/** Where there is a body, before it is read: who may not write costs no memory. */
function admittedBefore(route: Route, gate: Gate) {
  return {
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      await admit(route, gate, { request, reply });
      // The framework refuses types that it cannot parse; here the type of a body is not looked at.
      delete request.raw.headers['content-type'];
    },
    handler: (request: FastifyRequest, reply: FastifyReply) => serve(route, gate, { request, reply }),
  };
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

async function admit(route: Route, gate: Gate, { request, reply }: Exchange): Promise<void> {
  if (route.open) {
    request.rulesCaller = nobody;
    return;
  }
  const caller = await gate.authenticator.authenticate(request.headers.authorization);
  request.rulesCaller = caller;
  try {
    if (gate.rateLimiter) reply.headers(gate.rateLimiter.count(caller.tokenId));
    authorizeFor(route, caller, request);
  } catch (error) {
    gate.uses.notAllowed(caller.tokenId);
    throw error;
  }
}

function authorizeFor(
  { permission, operator, anyAccount }: Route,
  caller: Caller,
  request: FastifyRequest,
): void {
  if (permission === undefined) return;
  if (operator) return authorizeOperator(caller, permission);
  if (anyAccount) return authorizeAnywhere(caller, permission);
  const accountId = param(request, 'account_id');
  if (!isAccountId(accountId)) throw notFound({ path: pathOf(request) });
  authorize(caller, accountId, permission);
}

async function serve(route: Route, gate: Gate, { request, reply }: Exchange): Promise<FastifyReply> {
  const caller = request.rulesCaller;
  if (!caller) throw new Error(`${route.operationId} was reached without authentication`);
  if (isCollectionPatched(route, request)) {
    reply.callNotFound();
    return reply;
  }
  const { body, type, headers, isKnown } = await route.handle(apiRequest(request, caller, gate));
  if (headers) reply.headers(headers);
  const staleSeconds = route.open ? undefined : gate.staleSeconds?.();
  if (staleSeconds !== undefined && route.method === 'GET') reply.header('floodgate-stale', staleSeconds);
  if (isKnown) return reply.code(304).send();
  reply.header('content-type', type ?? JSON_TYPE);
  if (typeof body !== 'function') return reply.send(body);
  return request.method === 'HEAD' ? reply.send() : reply.send(body());
}

/** `PATCH …/rules/`: what is meant is nothing whose id is missing, but the collection, which has no such method. */
function isCollectionPatched({ method, path }: Route, request: FastifyRequest): boolean {
  const [, id] = /\{(\w+)\}$/.exec(path) ?? [];
  return (
    method === 'PATCH' && id !== undefined && param(request, id) === '' && /[^/]\/$/.test(pathOf(request))
  );
}

function apiRequest(request: FastifyRequest, caller: Caller, { clientAddress }: Gate): ApiRequest {
  const { tokenId, label } = caller;
  return {
    caller,
    // A client without an address speaks over a socket of this machine.
    actor: {
      by: tokenId,
      ...(label !== undefined && { label }),
      from: clientAddress(request.raw) || 'local',
    },
    accountId: param(request, 'account_id'),
    ruleId: param(request, 'rule_id'),
    entryId: param(request, 'entry_id'),
    attackId: param(request, 'attack_id'),
    tokenId: param(request, 'token_id'),
    keyId: param(request, 'key_id'),
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
  const end = request.url.indexOf('?');
  return end === -1 ? request.url : request.url.slice(0, end);
}
