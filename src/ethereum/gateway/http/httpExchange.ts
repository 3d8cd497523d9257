import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TrackedResponse } from '../../../platform/http/index.ts';
import type { HttpAnswer, RpcError } from '../../jsonrpc/index.ts';
import type { CallContext } from '../method.ts';
import type { AnswerCompression } from './compression/answerCompression.ts';
import { ALLOWED_HEADERS, originHeaders } from './origins.ts';
import { respond } from './respond.ts';
import type { TickBatcher } from './tickBatcher.ts';

export interface HttpExchangeOptions {
  readonly tickBatcher: TickBatcher;
  readonly compression: AnswerCompression | undefined;
  readonly allowedOrigin: string | undefined;
  readonly errorBody: (error: RpcError) => string;
}

export class HttpExchange {
  readonly #request: IncomingMessage;
  readonly response: TrackedResponse;
  readonly #headers: string[];
  readonly #turnBatcher: TickBatcher;
  readonly #compression: AnswerCompression | undefined;
  readonly #errorBody: HttpExchangeOptions['errorBody'];
  #faultId: string | undefined;

  constructor(
    request: IncomingMessage,
    response: TrackedResponse,
    { tickBatcher, compression, allowedOrigin, errorBody }: HttpExchangeOptions,
  ) {
    this.#request = request;
    this.response = response;
    this.#turnBatcher = tickBatcher;
    this.#compression = compression;
    this.#errorBody = errorBody;
    this.#headers = originHeaders(allowedOrigin, request.headers.origin);
  }

  /** Returns the request id that is logged with an internal error, and sends it as `X-Request-Id`. */
  faultId(): string {
    if (this.#faultId === undefined) {
      this.#faultId = randomUUID();
      this.#headers.push('x-request-id', this.#faultId);
    }
    return this.#faultId;
  }

  answer(answer: HttpAnswer, { cache, node }: CallContext): void {
    if (cache !== undefined) this.#headers.push('x-floodgate-cache', cache);
    if (node !== undefined) this.#headers.push('x-floodgate-upstream', node);
    // Error responses are too small for compression.
    if (answer.status !== 200) return respond(this.response, answer, this.#headers);
    const compression = this.#compression;
    const accepts = this.#request.headers['accept-encoding'];
    if (compression === undefined || accepts === undefined)
      return this.#turnBatcher.send(() => respond(this.response, answer, this.#headers));
    const recipient = { response: this.response, headers: this.#headers, accepts };
    this.#turnBatcher.send(() => compression.respond(answer, recipient));
  }

  /** Sends an error response, even if the body of the request is not complete yet. */
  send(status: number, error: RpcError, ...headers: string[]): void {
    const body = this.#errorBody(error);
    this.#headers.push(
      ...headers,
      'content-type',
      'application/json',
      'content-length',
      String(Buffer.byteLength(body)),
    );
    this.response.writeHead(status, this.#headers);
    if (this.#request.complete) {
      this.response.end(body);
      return;
    }
    // Discard the rest of the request body before the response ends, within the request timeout. If the connection were
    // closed while the client still sends, the client could not read the error.
    this.response.write(body);
    this.#request.once('close', () => this.response.end());
    this.#request.resume();
  }

  preflight(method: string): void {
    this.#headers.push('access-control-allow-methods', method);
    this.#headers.push('access-control-allow-headers', ALLOWED_HEADERS);
    this.#headers.push('access-control-max-age', '86400');
    this.response.writeHead(204, this.#headers);
    this.response.end();
  }
}
