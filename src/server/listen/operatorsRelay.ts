import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { inBackground } from '../../platform/background/index.ts';
import { createPool } from '../../platform/httpClient/index.ts';
import { CLIENT_ADDRESS_HEADER, HTTPS_HEADER, type RequestReaders } from './relayedRequests.ts';

/**
 * Hop-by-hop headers, which a proxy must not forward (RFC 9110, section 7.6.1), and the length of a body of chunks,
 * which node and undici set.
 */
const HOP_BY_HOP_HEADERS = new Set([
  'connection',
  'keep-alive',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'proxy-connection',
  'transfer-encoding',
]);

/** Time after which a worker closes an idle connection, so that a burst of requests does not occupy descriptors. */
const IDLE_MS = 4_000;

interface Stream {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly abort: () => void;
}

/** Forwards HTTP requests of operators from a worker to the first process, which listens on a Unix socket. */
export class OperatorsRelay {
  readonly #readers: RequestReaders;
  readonly #pool: Pool;
  /** One function for each open event stream, which ends the stream. */
  readonly #endless = new Set<() => void>();
  #isEnding = false;

  constructor(path: string, readers: RequestReaders) {
    this.#readers = readers;
    this.#pool = createPool('http://localhost', {
      socketPath: path,
      keepAliveMaxTimeout: IDLE_MS,
      // The client and the first process limit the time of a request.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '' } = request;
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    const headers = {
      ...forwardedHeaders(request.headers),
      [CLIENT_ADDRESS_HEADER]: this.#readers.clientAddress(request),
      [HTTPS_HEADER]: String(this.#readers.isHttps(request)),
    };
    // undici accepts no other target, such as that of `OPTIONS *`, which the first process does not serve.
    const path = /^(\/|https?:\/\/)/.test(url) ? url : `/${url}`;
    // undici destroys the body at the end, and an IncomingMessage would lose its socket.
    const body = length === undefined && coding === undefined ? null : request.pipe(new PassThrough());
    let exchange: Dispatcher.DispatchController | undefined;
    const abort = (): void => exchange?.abort(new Error('the client has disconnected'));
    response.on('close', () => {
      if (!response.writableFinished) abort();
    });
    this.#pool.dispatch(
      { method: method as Dispatcher.HttpMethod, path, headers, body }, // node accepts the same methods
      {
        onRequestStart(controller) {
          exchange = controller;
          if (response.destroyed) abort();
        },
        onResponseStart: (_controller, status, answered) => {
          const closes = answered['connection'] === 'close' && { connection: 'close' };
          response.writeHead(status, { ...forwardedHeaders(answered), ...closes });
          if (answered['content-type'] === 'text/event-stream') this.#stream({ request, response, abort });
        },
        onResponseData(controller, chunk) {
          if (response.write(chunk)) return;
          controller.pause();
          response.once('drain', () => controller.resume());
        },
        onResponseEnd() {
          response.end();
          // If the response ends early, the rest of the request body is read and discarded.
          request.unpipe().resume();
        },
        // The first process may have carried out the request, so the connection is closed instead of an error response.
        onResponseError() {
          if (!response.writableEnded) response.destroy();
        },
      },
    );
  }

  /** Ends the open event streams, whose responses would otherwise never be complete. */
  endStreams(): void {
    this.#isEnding = true;
    for (const end of this.#endless) end();
  }

  close(): void {
    inBackground('close the connections to the first process', () => this.#pool.destroy());
  }

  #stream({ request: { socket }, response, abort }: Stream): void {
    response.flushHeaders();
    const end = (): void => {
      response.end();
      abort();
    };
    this.#endless.add(end);
    // A client that closes its side of the connection waits for no further events.
    socket.once('end', end);
    response.on('close', () => {
      this.#endless.delete(end);
      socket.off('end', end);
    });
    if (this.#isEnding || socket.readableEnded) end();
  }
}

const forwardedHeaders = <Headers extends object>(headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP_HEADERS.has(name))) as Headers; // fewer
