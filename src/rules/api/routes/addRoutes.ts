import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isAccountId } from '../../index.ts';
import { notFound } from '../handlers/collectionHandlers.ts';
import {
  type Authenticator,
  authorize,
  authorizeAnyAccount,
  authorizeOperator,
  type Caller,
} from '../http/authenticate.ts';
import type { RateLimiter } from '../http/rateLimit.ts';
import type { ApiRequest } from '../http/request.ts';
import type { Route } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    rulesCaller: Caller | null;
  }
}

interface Gate {
  readonly authenticator: Authenticator;
  readonly rateLimiter: RateLimiter | undefined;
  readonly clientAddress: (request: IncomingMessage) => string;
  readonly staleSeconds: (() => number | undefined) | undefined;
}

export interface RouteConfig {
  readonly operationId?: string;
}

/** Content type with its charset, so that Fastify need not append the charset for each response. */
const JSON_TYPE = 'application/json; charset=utf-8';

const anonymousCaller: Caller = {
  tokenId: '',
  tokenHash: '',
  rootId: '',
  accounts: [],
  permissions: [],
  expiresOn: null,
};

/** Registers the routes in Fastify. Each is registered with and without a trailing slash unless its path is exact. */
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
        ...(route.method === 'GET'
          ? authenticatedInHandler(route, gate)
          : authenticatedBeforeBody(route, gate)),
      });
    }
  }
}

/**
 * Authenticates GET requests in their handler, because an async hook would take as long as the rest of the request.
 */
function authenticatedInHandler(route: Route, gate: Gate) {
  return {
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      await admit(route, gate, { request, reply });
      return serve(route, gate, { request, reply });
    },
  };
}

/** Authenticates requests before their bodies are read, so that unauthorized clients use no memory. */
function authenticatedBeforeBody(route: Route, gate: Gate) {
  return {
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      await admit(route, gate, { request, reply });
      // Fastify rejects unknown content types, but the rules API accepts any.
      delete request.raw.headers['content-type'];
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      if (!route.open) await admitAgain(gate, request);
      return serve(route, gate, { request, reply });
    },
  };
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

async function admit(route: Route, gate: Gate, { request, reply }: Exchange): Promise<void> {
  if (route.open) {
    request.rulesCaller = anonymousCaller;
    return;
  }
  const credentials = gate.authenticator.credentialsOf(request.raw);
  if (credentials.session !== undefined) reply.header('cache-control', 'no-store');
  const caller = await gate.authenticator.authenticate(credentials, request.raw);
  request.rulesCaller = caller;
  if (gate.rateLimiter) reply.headers(gate.rateLimiter.count(caller.rootId));
  authorizeFor(route, caller, request);
}

/** Rejects a request whose token has ended while the body arrived. */
async function admitAgain({ authenticator }: Gate, request: FastifyRequest): Promise<void> {
  await authenticator.authenticateAgain(authenticator.credentialsOf(request.raw));
}

function authorizeFor(
  { permission, operator, anyAccount }: Route,
  caller: Caller,
  request: FastifyRequest,
): void {
  if (permission === undefined) return;
  if (operator) return authorizeOperator(caller, permission);
  if (anyAccount) return authorizeAnyAccount(caller, permission);
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
  const { body, type, headers, isNotModified } = await route.handle(apiRequest(request, caller, gate));
  if (headers) reply.headers(headers);
  const staleSeconds = route.open ? undefined : gate.staleSeconds?.();
  if (staleSeconds !== undefined && route.method === 'GET') reply.header('floodgate-stale', staleSeconds);
  if (isNotModified) return reply.code(304).send();
  reply.header('content-type', type ?? JSON_TYPE);
  if (typeof body !== 'function') return reply.send(body);
  return request.method === 'HEAD' ? reply.send() : reply.send(endingWith(request.raw.socket, body()));
}

/** Ends a stream when its client closes its side of the connection: the client waits for no further events. */
function endingWith(socket: Socket, stream: Readable): Readable {
  const end = (): void => void stream.destroy();
  if (socket.readableEnded) end();
  socket.once('end', end);
  stream.once('close', () => socket.off('end', end));
  return stream;
}

/**
 * Returns whether a PATCH is for the whole collection, which does not allow it: `PATCH …/rules/` matches the route of
 * a single rule, with an empty id.
 */
function isCollectionPatched({ method, path }: Route, request: FastifyRequest): boolean {
  if (method !== 'PATCH') return false;
  const [, id] = /\{(\w+)\}$/.exec(path) ?? [];
  return id !== undefined && param(request, id) === '' && /[^/]\/$/.test(pathOf(request));
}

function apiRequest(
  request: FastifyRequest,
  caller: Caller,
  { authenticator, clientAddress }: Gate,
): ApiRequest {
  const { tokenId, label } = caller;
  return {
    caller,
    // A client without an address is connected through a local socket.
    actor: {
      by: tokenId,
      ...(label !== undefined && { label }),
      from: clientAddress(request.raw) || 'local',
    },
    accountId: param(request, 'account_id'),
    ruleId: param(request, 'rule_id'),
    entryId: param(request, 'entry_id'),
    zoneId: param(request, 'zone_id'),
    attackId: param(request, 'attack_id'),
    tokenId: param(request, 'token_id'),
    keyId: param(request, 'key_id'),
    path: pathOf(request),
    query: request.query as Record<string, unknown>, // Fastify's query is an object of strings and lists
    headers: request.headers,
    credentials: authenticator.credentialsOf(request.raw),
    body: request.body,
  };
}

function param(request: FastifyRequest, name: string): string {
  const params = request.params as Record<string, string>; // Fastify's params are an object of strings
  return params[name] ?? '';
}

function pathOf(request: FastifyRequest): string {
  const end = request.url.indexOf('?');
  return end === -1 ? request.url : request.url.slice(0, end);
}
