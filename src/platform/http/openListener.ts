import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { Server as NetServer } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify';
import type { Scheduler } from '../scheduler/index.ts';
import { ClientCertificates } from './clientCertificates.ts';
import type { ConnectionLimit } from './connections/connectionLimits.ts';
import { OpenSockets } from './connections/openSockets.ts';
import type { Handshakes } from './handshakes.ts';
import { hostCheck } from './hostCheck.ts';
import { createListener } from './listener.ts';
import { answerMalformedRequests, type ErrorBody } from './malformedRequests.ts';
import { type Interceptor, type RequestRejection, serveInOrder } from './serveInOrder.ts';
import { type TlsFiles, watchTlsFiles } from './tlsFiles.ts';
import type { UnfinishedMessages } from './unfinished/unfinishedMessages.ts';
import { listenAtPath, type UnixSocketPath } from './unixSocket.ts';
import type { Readers } from './unsent/readers.ts';
import type { TrackedResponse } from './unsent/trackedResponse.ts';

export interface ListenerContent {
  readonly routes: (listener: FastifyInstance) => Promise<void>;
  readonly interceptor?: Interceptor | undefined;
  readonly paths: readonly string[];
  readonly errorBody: ErrorBody;
  /** Answers URLs below /client/v4 that cannot be decoded. */
  readonly sendBadUrl?: ((reply: FastifyReply) => FastifyReply) | undefined;
}

export interface OpenListenerOptions {
  readonly at: { readonly host: string; readonly port: number } | UnixSocketPath;
  readonly tls?: TlsFiles | undefined;
  /** See `HostCheckOptions`. Ignored on a Unix socket, which browsers cannot reach. */
  readonly allowedHosts?: readonly string[] | undefined;
}

export interface OpenListenerDependencies {
  readonly logger: FastifyBaseLogger;
  readonly readers: Readers;
  readonly unfinished: UnfinishedMessages;
  /** Limits the connections. Default: no limit. */
  readonly connections?: ConnectionLimit | undefined;
  readonly scheduler: Scheduler;
  readonly handshakes: Handshakes;
  /** Called for each request before it is answered. */
  readonly handled?: ((response: TrackedResponse) => void) | undefined;
}

export interface OpenListener {
  readonly url: string;
  /**
   * Stops accepting connections, and closes each open connection after its next response, so that no request is lost.
   * Resolves when all connections are closed, or at `deadlineMs`.
   */
  drain(deadlineMs: number): Promise<void>;
  /**
   * Stops accepting connections, and closes each after its next response; idle ones after `drainMs` (default: 0).
   * Resolves after all requests are answered, or at `deadlineMs` (`performance.now()`).
   */
  stop(deadlineMs: number, drainMs?: number): Promise<void>;
}

const IDLE_SWEEP_MS = 50;
const ACCEPT_MS = 1_000;

/** Opens a listener that serves the given content. If this fails, rejects and leaves nothing open. */
export async function openListener(
  { at, tls, allowedHosts }: OpenListenerOptions,
  shown: ListenerContent,
  { logger, readers, unfinished, connections, scheduler, handshakes, handled }: OpenListenerDependencies,
): Promise<OpenListener> {
  const place = 'path' in at ? at : { ...at, host: await addressOf(at.host) };
  const { paths, sendBadUrl } = shown;
  const listener = createListener({ tls, paths }, { logger, readers, connections, sendBadUrl });
  const { server } = listener;
  const sockets = new OpenSockets(server);
  handshakes.watch(server);
  answerMalformedRequests(server, shown.errorBody);
  // A body usually arrives later than the headers, and the time of the rest of the request must count, too.
  listener.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined) done();
    else scheduler.run(readers.clientOf(request.raw), done);
  });
  await shown.routes(listener);
  const certificates = tls?.clientCa === undefined ? undefined : new ClientCertificates();
  // After a change of the CA, even connections whose handshake still uses the old one are closed.
  if (tls !== undefined)
    watchTlsFiles(server, tls, { log: logger, clientCaChanged: () => sockets.closeAll() });
  const host = 'path' in place ? undefined : hostCheck({ allowedHosts, address: place.host });
  serveInOrder(server, {
    interceptor: shown.interceptor,
    refusal: bothOf(host, certificates?.refusal),
    errorBody: shown.errorBody,
    unfinished,
    scheduler,
    handled,
    clientOf: readers.clientOf,
  });
  let removeSocket = (): void => undefined;
  let url: string;
  try {
    if ('path' in place) {
      removeSocket = await listenAtPath(place, (path) => listener.listen({ path }));
      url = `unix:${resolve(place.path)}`;
    } else url = await listener.listen(place);
  } catch (error) {
    await listener.close();
    throw error;
  }
  const drain = async (deadlineMs: number): Promise<void> => {
    server.prependListener('request', (_request, response) => {
      response.shouldKeepAlive = false;
    });
    await allAccepted(server);
    // `close` of http.Server would also close idle connections, although a client may just have sent a request.
    NetServer.prototype.close.call(server);
    const left = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
    while (performance.now() < deadlineMs && (await left()) > 0) await pause(IDLE_SWEEP_MS);
  };
  return {
    url,
    drain,
    async stop(deadlineMs, drainMs = 0) {
      removeSocket();
      const deadline = setTimeout(() => sockets.closeAll(), deadlineMs - performance.now());
      await drain(Math.min(deadlineMs, performance.now() + drainMs));
      // Idle connections are closed repeatedly, because a connection would be kept alive after its last response.
      const sweep = setInterval(() => sockets.closeIdle(), IDLE_SWEEP_MS);
      await listener.close();
      clearInterval(sweep);
      clearTimeout(deadline);
    },
  };
}

/**
 * Resolves when no connection waits to be accepted, at the latest after `ACCEPT_MS`. Closing the listener would reset
 * such connections. Node accepts one connection in each iteration of the event loop.
 */
async function allAccepted(server: NetServer): Promise<void> {
  const untilMs = performance.now() + ACCEPT_MS;
  let accepted = 0;
  const count = (): void => void accepted++;
  server.on('connection', count);
  for (let before = -1; before !== accepted && performance.now() < untilMs; ) {
    before = accepted;
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
  server.off('connection', count);
}

type Check = (request: IncomingMessage) => RequestRejection | undefined;

function bothOf(first: Check | undefined, second: Check | undefined): Check | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return (request) => first(request) ?? second(request);
}

/**
 * Resolves a host name to one address. For `localhost`, fastify would open two servers, and one would lack the
 * listeners that `openListener` adds.
 */
async function addressOf(host: string): Promise<string> {
  if (host.toLowerCase() === 'localhost') return '127.0.0.1';
  return (await lookup(host)).address;
}
