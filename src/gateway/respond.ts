import type { ServerResponse } from 'node:http';
import type { HttpAnswer, Part, ResultStream } from '../rpc/index.ts';

/** A client that reads nothing of a large answer for this long is hung up on: a node waits for it. */
const STALLED_CLIENT_MS = 30_000;
/** Above, copying costs more than a second piece. */
const MAX_ONE_PIECE_BYTES = 16 * 1024;
/** Given back with the last answer that was cut from it. */
const SLAB_BYTES = 256 * 1024;

/** Writes an answer with these headers, names and values in turn. */
export function respond(response: ServerResponse, answer: HttpAnswer, headers: string[]): void {
  const { status, parts, stream, retryAfterSeconds } = answer;
  if (response.destroyed) {
    // The client is gone, and nobody will be told so again.
    stream?.abort();
    answer.release?.();
    return;
  }
  if (retryAfterSeconds !== undefined) headers.push('retry-after', String(Math.ceil(retryAfterSeconds)));
  if (parts.length === 0) {
    response.writeHead(status, headers);
    response.end();
    return;
  }
  headers.push('content-type', 'application/json');
  if (stream !== undefined) {
    const [start = '', end = ''] = parts;
    response.writeHead(status, headers);
    response.write(start);
    pipe(stream, response, end);
    return;
  }
  if (answer.release !== undefined) response.once('close', answer.release);
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  headers.push('content-length', String(length));
  response.writeHead(status, headers);
  const [only] = parts;
  if (only !== undefined && parts.length === 1) {
    // Text of one byte a character joins the head in one piece.
    if (only.length === length) response.end(only, 'latin1');
    else response.end(only);
    return;
  }
  if (length <= MAX_ONE_PIECE_BYTES) {
    response.end(joined(parts, length));
    return;
  }
  // Node gathers them into one call to the system.
  for (const part of parts) response.write(part);
  response.end();
}

let slab = Buffer.alloc(0);
let slabUsed = 0;

/** The parts in one piece, cut from a slab: one allocation serves a hundred small answers. */
function joined(parts: readonly Part[], length: number): Buffer {
  if (slabUsed + length > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    slabUsed = 0;
  }
  const start = slabUsed;
  for (const part of parts) {
    if (typeof part === 'string') slabUsed += slab.write(part, slabUsed);
    else {
      slab.set(part, slabUsed);
      slabUsed += part.length;
    }
  }
  return slab.subarray(start, slabUsed);
}

/** A stream into a response. Where it breaks off the connection is cut, so that half an answer never looks whole. */
function pipe(stream: ResultStream, response: ServerResponse, end: Part): void {
  const stalled = setTimeout(() => response.destroy(), STALLED_CLIENT_MS);
  response.on('drain', () => {
    stalled.refresh();
    stream.resume();
  });
  response.on('close', () => {
    clearTimeout(stalled);
    stream.abort();
  });
  stream.pipe({
    write: (piece) => response.write(piece),
    end: () => response.end(end),
    fail: () => response.destroy(),
  });
}
