import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { Server as NetServer } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify';
import { ClientCertificates } from './clientCertificates.ts';
import { ConnectionShedder } from './connectionShedder.ts';
import { keepPropertiesFast } from './fastProperties.ts';
import { HalfSent } from './halfSent.ts';
import { hostCheck } from './hostCheck.ts';
import { createListener } from './listener.ts';
import { type Interceptor, type Refusal, serveInOrder } from './serveInOrder.ts';
import { followTlsFiles, type TlsFiles } from './tlsFiles.ts';
import { listenAtPath, type UnixSocketPath } from './unixSocket.ts';
import { answerUnparsed, type UnroutedBody } from './unparsed.ts';
import type { Readers } from './unsent/readers.ts';
import type { TrackedResponse } from './unsent/trackedResponse.ts';

/** What a listener shows, and to nobody else is it known here. */
export interface Shown {
  /** Adds routes. */
  readonly routes: (listener: FastifyInstance) => Promise<void>;
  /** Answers before any route does. */
  readonly interceptor?: Interceptor | undefined;
  /** Named to whoever asks for another path. */
  readonly paths: readonly string[];
  readonly errorBody: UnroutedBody;
  /** Answers a URL below /client/v4 that cannot be decoded, which no route gets to see. */
  readonly sendBadUrl?: ((reply: FastifyReply) => FastifyReply) | undefined;
}

export interface OpenListenerOptions {
  readonly at: { readonly host: string; readonly port: number } | UnixSocketPath;
  readonly tls?: TlsFiles | undefined;
  /** See `HostCheckOptions`; a Unix socket, which no browser reaches, takes any. */
  readonly allowedHosts?: readonly string[] | undefined;
}

export interface OpenListenerDependencies {
  readonly logger: FastifyBaseLogger;
  readonly readers: Readers;
  /** Hears of each request before it is answered. */
  readonly handled?: ((response: TrackedResponse) => void) | undefined;
}

export interface OpenListener {
  /** `http://127.0.0.1:8420`, `unix:/run/floodgate.sock`. */
  readonly url: string;
  /** See `ConnectionShedder`. */
  shed(share: number, closed: () => void): void;
  /**
   * Takes no new connection, and closes each that there is behind its next answer, so that no request is lost. Resolves when there is none
   * left, or at `deadlineMs`.
   */
  drain(deadlineMs: number): Promise<void>;
  /** Refuses what is new, and ends once what runs is answered, or at `deadlineMs` as `performance.now()` tells it. */
  stop(deadlineMs: number): Promise<void>;
}

/** While stopping, connections that have become idle are closed this often. */
const IDLE_SWEEP_MS = 50;

/** Listens, and shows there what it is given. Rejects where that cannot be, with nothing left open. */
export async function openListener(
  { at, tls, allowedHosts }: OpenListenerOptions,
  shown: Shown,
  { logger, readers, handled }: OpenListenerDependencies,
): Promise<OpenListener> {
  const place = 'path' in at ? at : { ...at, host: await addressOf(at.host) };
  const { paths, sendBadUrl } = shown;
  keepPropertiesFast();
  const listener = createListener({ tls, paths }, { logger, readers, sendBadUrl });
  const { server } = listener;
  answerUnparsed(server, shown.errorBody);
  await shown.routes(listener);
  const certificates = tls?.clientCa === undefined ? undefined : new ClientCertificates(server);
  if (tls !== undefined)
    followTlsFiles(server, tls, { log: logger, clientCaChanged: () => certificates?.cut() });
  const host = 'path' in place ? undefined : hostCheck({ allowedHosts, address: place.host });
  serveInOrder(server, {
    interceptor: shown.interceptor,
    refusal: bothOf(host, certificates?.refusal),
    errorBody: shown.errorBody,
    handled,
  });
  const halfSent = new HalfSent(server);
  const shedder = new ConnectionShedder(server);
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
  return {
    url,
    shed: (share, closed) => shedder.shed(share, closed),
    async drain(deadlineMs) {
      server.prependListener('request', (_request, response) => {
        response.shouldKeepAlive = false;
      });
      // Node's own for HTTP hangs up on idle connections, which a request may be on its way on.
      NetServer.prototype.close.call(server);
      const left = (): Promise<number> =>
        new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
      while (performance.now() < deadlineMs && (await left()) > 0) await pause(IDLE_SWEEP_MS);
    },
    async stop(deadlineMs) {
      removeSocket();
      const deadline = setTimeout(() => {
        server.closeAllConnections();
        halfSent.cutUpgraded();
      }, deadlineMs - performance.now());
      // A connection whose last request was under way is idle only after it: it would be kept for the next one.
      const sweep = setInterval(() => {
        server.closeIdleConnections();
        halfSent.cut();
      }, IDLE_SWEEP_MS);
      await listener.close();
      clearInterval(sweep);
      clearTimeout(deadline);
    },
  };
}

type Check = (request: IncomingMessage) => Refusal | undefined;

function bothOf(first: Check | undefined, second: Check | undefined): Check | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return (request) => first(request) ?? second(request);
}

/** One address: for `localhost` the framework would make a second server, which nothing here is told of. */
async function addressOf(host: string): Promise<string> {
  if (host.toLowerCase() === 'localhost') return '127.0.0.1';
  return (await lookup(host)).address;
}
