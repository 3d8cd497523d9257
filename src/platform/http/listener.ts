/**
 * What both interfaces share: the HTTP server with its limits and timeouts, request ids, health and metrics.
 * What is served on it comes as fastify plugins; this room knows none of them.
 */
import { randomUUID } from 'node:crypto';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  LogController,
} from 'fastify';
import { HTTP_CLASSES } from './httpClasses.ts';
import { readTlsFiles, type TlsFiles } from './tlsFiles.ts';
import type { Readers } from './unsent/readers.ts';
import { TooMuchUnsentError } from './unsent/tooMuchUnsent.ts';

/** Time for a client to send its whole request: a client that sends a byte a second is hung up on. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Node looks for clients over their time this often; its own 30 s would let them double it. */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
/** An idle connection is kept for the next request this long; above the 60 s that common proxies keep theirs. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/**
 * Of a connection that is not read at the time so much is taken from the system at most: the rest waits there, and is then read as
 * one. Each packet of a flood is read by itself otherwise. What is read and written at once is no less for it.
 */
const READ_AHEAD_BYTES = 1024;
/** Answered whatever else is held: they tell whoever watches the server. */
const ALWAYS_ANSWERED = new Set(['/healthz', '/readyz', '/metrics']);
/** A path parameter is at most an account id or a UUID. */
const MAX_PARAMETER_LENGTH = 200;

export interface ListenerOptions {
  /** Left out: 30 seconds. */
  readonly requestTimeoutMs?: number;
  /** Left out: plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  /** What is served, for whoever asks for something else. */
  readonly paths?: readonly string[];
}

export interface ListenerDependencies {
  readonly logger: FastifyBaseLogger;
  readonly sendBadUrl?: ((reply: FastifyReply) => FastifyReply) | undefined;
  readonly readers: Readers;
}

/**
 * A server that answers nothing yet. Requests have an id, sent back as `X-Request-Id` and logged with their faults.
 * `sendBadUrl` answers a URL below /client/v4 that cannot be decoded, which no route gets to see. A request that is not
 * whole after `requestTimeoutMs` is answered with 408 and its connection closed; clients that do not read are left to
 * `readers`. Throws TlsFilesError where there is to be TLS and its files cannot be used.
 */
export function createListener(
  { requestTimeoutMs = REQUEST_TIMEOUT_MS, tls, paths = [] }: ListenerOptions,
  { logger, sendBadUrl, readers }: ListenerDependencies,
): FastifyInstance {
  const http = {
    highWaterMark: READ_AHEAD_BYTES,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_INTERVAL_MS, requestTimeoutMs),
    ...HTTP_CLASSES,
  };
  const listener: FastifyInstance = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestTimeout: requestTimeoutMs,
    ...(tls === undefined ? { http } : { https: { ...http, ...secured(tls) } }),
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    frameworkErrors: (_error, request, anyReply) => {
      const reply = anyReply as FastifyReply; // its type parameters say only that no route is known
      if (sendBadUrl !== undefined && request.url.startsWith('/client/v4')) return sendBadUrl(reply);
      return reply.code(400).send({ error: 'the URL cannot be decoded' });
    },
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    // No route has a schema of the framework's. Where these are named it does not load its own, which take longer than it does itself.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  // Where Node has a longer time for the head than for the whole, it takes the one for the other: a body had 60 s.
  listener.server.headersTimeout = requestTimeoutMs;
  readers.watch(listener.server);
  // In callback style: waiting for a promise here costs a quarter of what a small answer takes.
  listener.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    const refused = !ALWAYS_ANSWERED.has(request.url) && (readers.refuses(request.raw) || readers.isFull());
    done(refused ? new TooMuchUnsentError() : undefined);
  });
  listener.setNotFoundHandler((request, reply) => {
    reply.code(404).send({
      error: `nothing is served at ${request.method} ${request.url.slice(0, MAX_PARAMETER_LENGTH)}`,
      served: paths,
    });
  });
  return listener;
}

/** A client's certificate is asked for and judged at each request: who has none is told so, and may ask whether this server is well. */
const secured = (tls: TlsFiles) => ({
  ...readTlsFiles(tls),
  ...(tls.clientCa !== undefined && { requestCert: true, rejectUnauthorized: false }),
});

const noSchemas = (): never => {
  throw new TypeError(
    'routes are served without schemas of the framework: bodies are checked by those who read them',
  );
};
