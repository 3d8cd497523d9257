import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http';
import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import type { ClientAddress } from '../../platform/addresses/index.ts';
import { opsListenAddress } from './listenAddresses.ts';

/** Header with the address of the client. Only workers can connect to the socket, so no client can forge it. */
const CLIENT_ADDRESS_HEADER = 'floodgate-client';
/** Header that tells whether the client used TLS. */
const HTTPS_HEADER = 'floodgate-https';
/** Hop-by-hop headers, which a proxy must not forward (RFC 9110, section 7.6.1). */
const HOP_BY_HOP_HEADERS = [
  'connection',
  'keep-alive',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'proxy-connection',
];

/** Idle connections that a worker keeps, so that a burst of requests does not occupy descriptors for a minute. */
const MAX_IDLE_CONNECTIONS = 8;

/** Returns the socket to which workers relay operators' requests; undefined if operators have their own listener. */
export const relayPathOf = (config: Config): string | undefined =>
  opsListenAddress(config) === undefined ? join(config.dataDir, 'operators.sock') : undefined;

/** Read the client address of a request that a worker forwarded, and whether the client used TLS. */
export const RELAYED: Readonly<OperatorsRelayDependencies> = {
  clientAddress: ({ headers }) => String(headers[CLIENT_ADDRESS_HEADER] ?? ''),
  isHttps: ({ headers }) => headers[HTTPS_HEADER] === 'true',
};

export interface OperatorsRelayDependencies {
  readonly clientAddress: ClientAddress;
  readonly isHttps: (request: IncomingMessage) => boolean;
}

/** Forwards HTTP requests of operators from a worker to the first process, which listens on a Unix socket. */
export class OperatorsRelay {
  readonly #path: string;
  readonly #readers: OperatorsRelayDependencies;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS });
  /** One function for each open event stream, which ends the stream. */
  readonly #endless = new Set<() => void>();
  #isEnding = false;

  constructor(path: string, readers: OperatorsRelayDependencies) {
    this.#path = path;
    this.#readers = readers;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { method, url } = request;
    const headers = {
      ...forwardedHeaders(request.headers),
      [CLIENT_ADDRESS_HEADER]: this.#readers.clientAddress(request),
      [HTTPS_HEADER]: String(this.#readers.isHttps(request)),
    };
    const asked = send({ socketPath: this.#path, agent: this.#agent, method, path: url, headers });
    asked.on('response', (answer) => {
      this.#answer(answer, response);
      // If the response ends early, node stops sending the request body; the rest of the body is read and discarded.
      answer.on('end', () => {
        if (asked.writableFinished) return;
        request.unpipe(asked).resume();
        asked.destroy();
      });
    });
    asked.on('error', () => {
      // The first process may have carried out the request, so the connection is closed instead of an error response.
      if (!response.headersSent) response.destroy();
    });
    response.on('close', () => {
      if (!response.writableFinished) asked.destroy();
    });
    request.pipe(asked);
  }

  /** Ends the open event streams, whose responses would otherwise never be complete. */
  endStreams(): void {
    this.#isEnding = true;
    for (const end of this.#endless) end();
  }

  close(): void {
    this.#agent.destroy();
  }

  #answer(answer: IncomingMessage, response: ServerResponse): void {
    const { statusCode = 502, statusMessage = '', headers } = answer;
    const closes = headers.connection === 'close' && { connection: 'close' };
    const { 'transfer-encoding': _, ...others } = forwardedHeaders(headers);
    response.writeHead(statusCode, statusMessage, { ...others, ...closes });
    answer.on('error', () => response.destroy());
    answer.pipe(response);
    if (headers['content-type'] !== 'text/event-stream') return;
    response.flushHeaders();
    const end = (): void => {
      answer.unpipe(response);
      response.end();
      answer.destroy();
    };
    this.#endless.add(end);
    response.on('close', () => this.#endless.delete(end));
    if (this.#isEnding) end();
  }
}

const forwardedHeaders = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP_HEADERS.includes(name)));
