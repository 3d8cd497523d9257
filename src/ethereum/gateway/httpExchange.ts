import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TrackedResponse } from '../../platform/http/index.ts';
import type { HttpAnswer, RpcError } from '../jsonrpc/index.ts';
import type { AnswerCompression } from './compression/answerCompression.ts';
import type { CallContext } from './method.ts';
import { ALLOWED_HEADERS, originHeaders } from './origins.ts';
import { respond } from './respond.ts';
import type { TurnBatcher } from './turnBatcher.ts';

export interface HttpExchangeOptions {
  readonly turnBatcher: TurnBatcher;
  /** Undefined where nothing is compressed. */
  readonly compression: AnswerCompression | undefined;
  /** What `Access-Control-Allow-Origin` says; undefined for nothing. */
  readonly allowedOrigin: string | undefined;
  /** The body for an error. */
  readonly errorBody: (error: RpcError) => string;
}

/** One HTTP request and its response. */
export class HttpExchange {
  readonly #request: IncomingMessage;
  readonly response: TrackedResponse;
  readonly #headers: string[];
  readonly #turnBatcher: TurnBatcher;
  readonly #compression: AnswerCompression | undefined;
  readonly #errorBody: HttpExchangeOptions['errorBody'];
  readonly #allowedOrigin: string | undefined;
  #faultId: string | undefined;

  constructor(
    request: IncomingMessage,
    response: TrackedResponse,
    { turnBatcher, compression, allowedOrigin, errorBody }: HttpExchangeOptions,
  ) {
    this.#request = request;
    this.response = response;
    this.#turnBatcher = turnBatcher;
    this.#compression = compression;
    this.#errorBody = errorBody;
    this.#allowedOrigin = allowedOrigin;
    this.#headers = this.originHeaders();
  }

  /** Whether the body of the request is to be decompressed. */
  get isCompressed(): boolean {
    return this.#request.headers['content-encoding'] !== undefined;
  }

  /** What every answer to the request says first, names and values in turn. */
  originHeaders(): string[] {
    return originHeaders(this.#allowedOrigin, this.#request.headers.origin);
  }

  /** What a fault's line in the log is found by, sent as `X-Request-Id`. Other answers have none: nothing is logged of them. */
  faultId(): string {
    if (this.#faultId === undefined) {
      this.#faultId = randomUUID();
      this.#headers.push('x-request-id', this.#faultId);
    }
    return this.#faultId;
  }

  answer(answer: HttpAnswer, { cache, node, kept }: CallContext): void {
    if (cache !== undefined) this.#headers.push('x-floodgate-cache', cache);
    if (node !== undefined) this.#headers.push('x-floodgate-upstream', node);
    // A refusal was made in a turn that such requests share, and is sent in it.
    if (answer.status !== 200) return respond(this.response, answer, this.#headers);
    const compression = this.#compression;
    const accepts = this.#request.headers['accept-encoding'];
    if (compression === undefined || accepts === undefined)
      return this.#turnBatcher.send(() => respond(this.response, answer, this.#headers));
    const recipient = { response: this.response, headers: this.#headers, accepts, kept };
    this.#turnBatcher.send(() => compression.respond(answer, recipient));
  }

  /** An error instead of an answer; the body of the request need not have been read. */
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
    // What is left of the body is read and forgotten, for as long as a request may take, and the answer ends after it: a
    // client that is hung up on while it sends would not get to read why.
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
