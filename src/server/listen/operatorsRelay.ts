import { Agent, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import { CLIENT_ADDRESS_HEADER, HTTPS_HEADER, type RequestReaders } from './relayedRequests.ts';

/** Hop-by-hop headers, which a proxy must not forward (RFC 9110, section 7.6.1). */
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
  readonly #path: string;
  readonly #readers: RequestReaders;
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  /** One function for each open event stream, which ends the stream. */
  readonly #endless = new Set<() => void>();
  #isEnding = false;

  constructor(path: string, readers: RequestReaders) {
    this.#path = path;
    this.#readers = readers;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { method, url, headers } = request;
    const isChunked = headers['transfer-encoding'] !== undefined;
    const relayed = openRequest({
      socketPath: this.#path,
      agent: this.#agent,
      method,
      path: url,
      headers: {
        ...forwardedHeaders(headers),
        ...(isChunked && { 'transfer-encoding': 'chunked' }),
        [CLIENT_ADDRESS_HEADER]: this.#readers.clientAddress(request),
        [HTTPS_HEADER]: String(this.#readers.isHttps(request)),
      },
    });
    const abort = (): void => {
      relayed.destroy();
    };
    response.on('close', () => {
      if (!response.writableFinished) abort();
    });
    // The first process may have carried out the request, so the connection is closed instead of an error response.
    const fail = (): void => {
      if (!response.writableEnded) response.destroy();
    };
    relayed.on('error', fail);
    relayed.on('response', (answer) => {
      const closes = answer.headers.connection === 'close' && { connection: 'close' };
      response.writeHead(answer.statusCode ?? 502, { ...forwardedHeaders(answer.headers), ...closes });
      if (answer.headers['content-type'] === 'text/event-stream') this.#stream({ request, response, abort });
      answer.pipe(response);
      answer.on('error', fail);
      answer.on('end', () => {
        if (relayed.writableFinished) return;
        // If the response ends early, the rest of the request body is read and discarded.
        request.unpipe().resume();
        abort();
      });
    });
    request.pipe(relayed);
  }

  /** Ends the open event streams, whose responses would otherwise never be complete. */
  endStreams(): void {
    this.#isEnding = true;
    for (const end of this.#endless) end();
  }

  close(): void {
    this.#agent.destroy();
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
