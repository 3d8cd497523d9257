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
import { opsPlaceOf } from '../opsPlace.ts';

/** Where workers name the address of a request's client. Whoever else might cannot reach the socket. */
const CLIENT = 'floodgate-client';
/** Of one connection and not of what is sent over it; framing is found anew. */
const OF_CONNECTION = ['connection', 'keep-alive', 'expect', 'upgrade', 'te', 'trailer', 'proxy-connection'];

/** Where workers bring what only the first process can answer; undefined where operators have a listener of its own. */
export const relayPathOf = (config: Config): string | undefined =>
  opsPlaceOf(config) === undefined ? join(config.dataDir, 'operators.sock') : undefined;

/** The address of the client of a request that a worker brings. */
export const relayedClientAddress: ClientAddress = ({ headers }) => String(headers[CLIENT] ?? '');

export interface OperatorsRelayDependencies {
  readonly clientAddress: ClientAddress;
}

/** Has requests answered by the process that listens at a path, each as it is. */
export class OperatorsRelay {
  readonly #path: string;
  readonly #clientAddress: ClientAddress;
  readonly #agent = new Agent({ keepAlive: true });
  /** What ends answers that have no end of their own. */
  readonly #endless = new Set<() => void>();
  #isEnding = false;

  constructor(path: string, { clientAddress }: OperatorsRelayDependencies) {
    this.#path = path;
    this.#clientAddress = clientAddress;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { method, url } = request;
    const headers = { ...passed(request.headers), [CLIENT]: this.#clientAddress(request) };
    const asked = send({ socketPath: this.#path, agent: this.#agent, method, path: url, headers });
    asked.on('response', (answer) => {
      this.#answer(answer, response);
      // Of a request that is answered before it is whole the rest is of no use, and node may write no more of it.
      answer.on('end', () => {
        if (asked.writableFinished) return;
        request.unpipe(asked).resume();
        asked.destroy();
      });
    });
    asked.on('error', () => {
      // Whether it was done nobody knows: as where a server dies. Behind an answer it is the rest of a request that nobody reads.
      if (!response.headersSent) response.destroy();
    });
    response.on('close', () => {
      if (!response.writableFinished) asked.destroy();
    });
    request.pipe(asked);
  }

  /** Ends the answers that would go on for ever. */
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
    const { 'transfer-encoding': _, ...others } = passed(headers);
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

const passed = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name)));
