import type { IncomingMessage } from 'node:http';
import type { BudgetClient } from '../../../platform/budgets/index.ts';
import {
  bodyCoding,
  type CodedBody,
  type Coding,
  Decompressor,
} from '../../../platform/contentCoding/index.ts';
import type { TrackedResponse, UnfinishedMessages } from '../../../platform/http/index.ts';
import type { Scheduler } from '../../../platform/scheduler/index.ts';
import { overLimit, RpcError } from '../../jsonrpc/index.ts';

export type RequestBody =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'refused'; readonly status: 400 | 413 | 429; readonly error: RpcError }
  | { readonly kind: 'aborted' };

interface Exchange {
  readonly request: IncomingMessage;
  readonly client: BudgetClient;
  readonly response: Pick<TrackedResponse, 'isFinished' | 'onFinished' | 'rejectBody'>;
}

type Done = (body: RequestBody) => void;

/** Reads request bodies. The size limit applies both to the received bytes and to the bytes after decompression. */
export class RequestBodies {
  readonly #maxBytes: number;
  readonly #decompressor: Decompressor;
  readonly #unfinished: UnfinishedMessages;

  constructor(maxBytes: number, unfinished: UnfinishedMessages, scheduler: Scheduler) {
    this.#maxBytes = maxBytes;
    this.#unfinished = unfinished;
    this.#decompressor = new Decompressor(maxBytes, scheduler);
  }

  /** Reads a body and calls `done` once. If the client has disconnected, a compressed body is not decompressed. */
  read(exchange: Exchange, done: Done): void {
    const { request, response, client } = exchange;
    const coding = bodyCoding(request.headers['content-encoding']);
    if (coding === 'unknown') throw new Error('cannot read a body with an unknown Content-Encoding');
    readWhole(exchange, this.#maxBytes, (body) => {
      if (coding === undefined || body.kind !== 'whole') done(body);
      else
        this.#decompress(
          { coding, bytes: body.bytes, client, isFinished: () => response.isFinished },
          exchange,
          done,
        );
    });
  }

  /** Decompresses a body. Until a thread is free, it counts as an unfinished request, which bounds the queue. */
  #decompress(body: CodedBody, { request, response }: Exchange, done: Done): void {
    const unfinished = this.#unfinished.begin(request, body.bytes.length, () => request.socket.destroy());
    if (unfinished === undefined) return done(TOO_MUCH_UNFINISHED);
    response.onFinished(() => unfinished.end());
    this.#decompressor.decompress(body, (result) => {
      unfinished.end();
      if (body.isFinished()) done({ kind: 'aborted' });
      else if (result.kind === 'whole') done(result);
      else done(result.kind === 'tooLarge' ? this.#tooLargeDecompressed() : malformed(body.coding));
    });
  }

  #tooLargeDecompressed(): RequestBody {
    const limit = this.#maxBytes;
    const message = `bytes of a decompressed body: at most ${limit}, requested more`;
    return { kind: 'refused', status: 413, error: new RpcError('limitExceeded', message, { limit }) };
  }
}

const TOO_MUCH_UNFINISHED: RequestBody = {
  kind: 'refused',
  status: 429,
  error: new RpcError(
    'limitExceeded',
    'too many bytes of incomplete requests from this address; send them one at a time, or try again later',
  ),
};

const malformed = (coding: Coding): RequestBody => ({
  kind: 'refused',
  status: 400,
  error: new RpcError(
    'parseError',
    `the body is not valid ${coding}, its Content-Encoding: it is truncated, corrupt, or followed by other data`,
  ),
});

/** Reads a body of at most `maxBytes`. If Content-Length is larger, rejects the body before reading any of it. */
function readWhole({ request, response }: Exchange, maxBytes: number, done: Done): void {
  const reported = Number(request.headers['content-length'] ?? 0);
  if (reported > maxBytes) return done(tooLarge(maxBytes, reported));
  if (request.complete) {
    // A pipelined body is already buffered, because it was parsed while the earlier request was handled.
    const bytes: Buffer = request.read() ?? EMPTY;
    return done(bytes.length > maxBytes ? tooLarge(maxBytes, bytes.length) : { kind: 'whole', bytes });
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let length = 0;
  let ended = false;
  const end = (body: RequestBody): void => {
    if (ended) return;
    ended = true;
    first = undefined;
    more = undefined;
    done(body);
  };
  response.rejectBody = () => end(TOO_MUCH_UNFINISHED);
  request.on('data', (chunk: Buffer) => {
    if (ended) return;
    length += chunk.length;
    if (length > maxBytes) return end(tooLarge(maxBytes, length));
    if (first === undefined) first = chunk;
    else if (more === undefined) more = [first, chunk];
    else more.push(chunk);
  });
  request.on('end', () =>
    end({ kind: 'whole', bytes: more === undefined ? (first ?? EMPTY) : Buffer.concat(more, length) }),
  );
  request.on('close', () => end({ kind: 'aborted' }));
}

const tooLarge = (limit: number, bytes: number): RequestBody => ({
  kind: 'refused',
  status: 413,
  error: overLimit('bytes of a body', limit, bytes),
});

const EMPTY = Buffer.alloc(0);
