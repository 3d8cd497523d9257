/** HTTP server for clients and operators: limits, timeouts and request ids. Callers add the routes. */
import { randomUUID } from 'node:crypto';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { ConnectionLimit } from './connections/connectionLimits.ts';
import { HTTP_CLASSES } from './httpClasses.ts';
import { readTlsFiles, type TlsFiles } from './tlsFiles.ts';
import { TooMuchUnsentError } from './tooMuchUnsent.ts';
import type { Readers } from './unsent/readers.ts';

/** Default time in which a client must send a whole request. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Time in which a client must complete the TLS handshake. Node's default is 120 s. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Interval of node's timeout checks. Node's default of 30 s would allow twice the timeout. */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
/**
 * A connection is closed after this idle time. It exceeds the 60 s of common proxies, so that the proxy closes the
 * connection first.
 */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/**
 * Maximum bytes that node buffers for a connection that is not being read. The rest stays in the kernel and is later
 * read in one piece; without this limit, each packet of a flood would cause a read.
 */
const READ_AHEAD_BYTES = 1024;
/** Paths that are answered even if the client has not read its responses, because monitoring relies on them. */
const ALWAYS_ANSWERED = new Set(['/healthz', '/readyz', '/metrics']);
/** Maximum length of a path parameter. Account ids and UUIDs are shorter. */
const MAX_PARAMETER_LENGTH = 200;

export interface ListenerOptions {
  readonly requestTimeoutMs?: number;
  readonly handshakeTimeoutMs?: number;
  readonly tls?: TlsFiles | undefined;
  readonly paths?: readonly string[];
}

export interface ListenerDependencies {
  readonly logger: FastifyBaseLogger;
  readonly sendBadUrl?: ((reply: FastifyReply) => FastifyReply) | undefined;
  readonly readers: Readers;
  /** Limits the connections. Default: no limit. */
  readonly connections?: ConnectionLimit | undefined;
}

/**
 * Creates a server without routes. Each request has an id, sent back as `X-Request-Id` and logged with errors.
 * `sendBadUrl` answers URLs below /client/v4 that cannot be decoded. Requests that are incomplete after
 * `requestTimeoutMs` get 408. `readers` closes connections whose clients read too slowly. Throws TlsFilesError.
 */
export function createListener(
  {
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS,
    tls,
    paths = [],
  }: ListenerOptions,
  { logger, sendBadUrl, readers, connections }: ListenerDependencies,
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
    ...(tls === undefined
      ? { http }
      : { https: { ...http, ...secured(tls), handshakeTimeout: handshakeTimeoutMs } }),
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    // A request that arrives while the server stops is answered as usual, on a connection that is then closed.
    // fastify's own 503 has no envelope and no Retry-After.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    frameworkErrors: (_error, request, anyReply) => {
      const reply = anyReply as FastifyReply; // its type differs only because no route is known
      if (sendBadUrl !== undefined && request.url.startsWith('/client/v4')) return sendBadUrl(reply);
      return reply.code(400).send({ error: 'the URL cannot be decoded' });
    },
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    // As these compilers are set, fastify does not load its own, which would take longer than loading fastify itself.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  });
  // If headersTimeout (default: 60 s) exceeds requestTimeout, node applies headersTimeout to the whole request.
  listener.server.headersTimeout = requestTimeoutMs;
  // Node would silently drop all headers after the first 2,000, for example the X-Forwarded-For of a proxy. Node's
  // maximum of 16 KiB for all headers bounds their number.
  listener.server.maxHeadersCount = 0;
  readers.watch(listener.server);
  connections?.watch(listener.server);
  // Callback style: awaiting a promise here costs a quarter of the time of a small response.
  listener.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    const isRefused = !ALWAYS_ANSWERED.has(request.url) && readers.exceeded(request.raw) !== undefined;
    done(isRefused ? new TooMuchUnsentError() : undefined);
  });
  const sendNotFound = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    reply.code(404).send({
      error: `no route for ${request.method} ${pathOf(request.url)}; served: ${paths.join(', ')}`,
      served: paths,
    });
  listener.setNotFoundHandler(sendNotFound);
  // Fastify reads the body first, so it may report an error of the body although the path is unknown.
  listener.setErrorHandler((error, request, reply) =>
    request.is404 && !(error instanceof TooMuchUnsentError)
      ? sendNotFound(request, reply)
      : reply.send(error),
  );
  return listener;
}

/** Returns the path of a URL without its query and API keys (`fgk_…`), because clients log error messages. */
const pathOf = (url: string): string =>
  (url.split('?', 1)[0] ?? '').slice(0, MAX_PARAMETER_LENGTH).replace(/fgk_[^/]*/g, '***');

/**
 * TLS asks for client certificates without enforcing them. Each HTTP request is checked instead, so that clients get
 * an error message and health checks need no certificate.
 */
const secured = (tls: TlsFiles) => ({
  ...readTlsFiles(tls),
  ...(tls.clientCa !== undefined && { requestCert: true, rejectUnauthorized: false }),
});

const noSchemas = (): never => {
  throw new TypeError('fastify schemas are not supported: handlers validate bodies');
};
