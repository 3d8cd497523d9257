import type { IncomingMessage } from 'node:http';
import { bodyCoding, type Coding, Decompressor } from '../../platform/contentCoding/index.ts';
import { overLimit, RpcError } from '../jsonrpc/index.ts';

/** How reading a body ended: whole, not to be taken, or the client went away. */
export type RequestBody =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'refused'; readonly status: 400 | 413; readonly error: RpcError }
  | { readonly kind: 'aborted' };

type Done = (body: RequestBody) => void;

/** Bodies that are decompressed at a time, of the four threads that Node has for that and for all files. */
const MAX_DECOMPRESSED_AT_ONCE = 2;

/** Reads the bodies of requests, compressed or not, up to a limit that holds for both. */
export class RequestBodies {
  readonly #maxBytes: number;
  readonly #decompressor: Decompressor;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#decompressor = new Decompressor({ maxBytes, maxAtOnce: MAX_DECOMPRESSED_AT_ONCE });
  }

  /** Calls back once; a compressed body of a client that is gone is not decompressed. */
  read(request: IncomingMessage, response: { readonly isOver: boolean }, done: Done): void {
    const coding = bodyCoding(request.headers['content-encoding']);
    if (coding === undefined) return readWhole(request, this.#maxBytes, done);
    if (coding === 'unknown') throw new Error('a body was to be read whose coding is not known');
    readWhole(request, this.#maxBytes, (body) => {
      if (body.kind !== 'whole') return done(body);
      const { bytes } = body;
      this.#decompressor.decompress({ coding, bytes, isOver: () => response.isOver }, (result) => {
        if (response.isOver) done({ kind: 'aborted' });
        else if (result.kind === 'whole') done(result);
        else done(result.kind === 'tooLarge' ? this.#bomb() : malformed(coding));
      });
    });
  }

  #bomb(): RequestBody {
    const limit = this.#maxBytes;
    const message = `bytes of a body, decompressed: at most ${limit}, requested more`;
    return { kind: 'refused', status: 413, error: new RpcError('limitExceeded', message, { limit }) };
  }
}

const malformed = (coding: Coding): RequestBody => ({
  kind: 'refused',
  status: 400,
  error: new RpcError(
    'parseError',
    `the body is not ${coding}, as its Content-Encoding says: it is cut, spoilt, or something stands behind it`,
  ),
});

/** Reads a body of at most `maxBytes`. A length that is told is believed before a byte is read. */
function readWhole(request: IncomingMessage, maxBytes: number, done: Done): void {
  const told = Number(request.headers['content-length'] ?? 0);
  if (told > maxBytes) return done(tooLarge(maxBytes, told));
  if (request.complete) {
    // It was parsed before its turn came: what there is of it is there, and costs no events.
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
    done(body);
  };
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
