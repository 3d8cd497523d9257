import type { Writable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { retryAfter, type TrackedResponse } from '../../../platform/http/index.ts';
import type { HttpAnswer, Part, ResultStream } from '../../jsonrpc/index.ts';

/** Maximum number of response parts to write separately. A single call has three parts; joining them is slower. */
const MAX_PARTS_APART = 3;
/** Minimum average size in bytes of parts to write separately. Smaller parts are faster to copy into one buffer. */
const MIN_PART_BYTES_APART = 1024;
/** With TLS, longer responses are written in slices of this size. */
const TLS_SLICE_BYTES = 256 * 1024;

/** Writes a response. `headers` contains header names and values, alternating. */
export function respond(response: TrackedResponse, answer: HttpAnswer, headers: string[]): void {
  const { status, parts, stream, retryAfterSeconds } = answer;
  if (response.isFinished) {
    // The client has disconnected and no further close event follows, so resources must be released here.
    stream?.abort();
    answer.release?.();
    return;
  }
  if (retryAfterSeconds !== undefined) headers.push('retry-after', retryAfter(retryAfterSeconds));
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
    pipe(stream, { into: response, response, end });
    return;
  }
  if (answer.release !== undefined) response.onFinished(answer.release);
  const length = bytesOf(parts);
  headers.push('content-length', String(length));
  response.writeHead(status, headers);
  if (length > TLS_SLICE_BYTES && response.socket instanceof TLSSocket) {
    writeSlices(response, slicesOf(parts));
    return;
  }
  if (parts.length > MAX_PARTS_APART && length < parts.length * MIN_PART_BYTES_APART) {
    response.end(joined(parts, length));
    return;
  }
  // Node.js combines these writes into one system call, and joins the response header with the first text.
  const last = parts.length - 1;
  parts.forEach((part, i) => {
    if (i < last) response.write(part, encodingOf(part));
    else response.end(part, encodingOf(part));
  });
}

function* slicesOf(parts: readonly Part[]): Generator<Uint8Array> {
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    for (let at = 0; at < bytes.length; at += TLS_SLICE_BYTES) yield bytes.subarray(at, at + TLS_SLICE_BYTES);
  }
}

/** Writes each slice after the one before was sent. Node.js would keep an encrypted copy of a whole response. */
function writeSlices(response: TrackedResponse, slices: Generator<Uint8Array>): void {
  for (let slice = slices.next(); slice.done !== true; slice = slices.next())
    if (!response.write(slice.value)) {
      response.once('drain', () => writeSlices(response, slices));
      return;
    }
  response.end();
}

export const bytesOf = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);

export function joined(parts: readonly Part[], length = bytesOf(parts)): Buffer {
  const whole = Buffer.allocUnsafe(length);
  let end = 0;
  for (const part of parts) {
    if (typeof part === 'string') end += whole.write(part, end);
    else {
      whole.set(part, end);
      end += part.length;
    }
  }
  return whole;
}

/**
 * Encoding for writing a part. ASCII text, the most frequent part, is written as latin1, which Node.js copies unchanged
 * and joins with other text. The encoding has no effect on bytes.
 */
const encodingOf = (part: Part): BufferEncoding =>
  Buffer.byteLength(part) === part.length ? 'latin1' : 'utf8';

interface Piped {
  readonly into: Pick<Writable, 'on' | 'write' | 'end'>;
  readonly response: TrackedResponse;
  readonly end: Part;
}

/** Pipes a streamed result. If the stream fails, closes the connection, so that a partial body never looks complete. */
export function pipe(stream: ResultStream, { into, response, end }: Piped): void {
  into.on('drain', () => stream.resume());
  response.onFinished(() => stream.abort());
  stream.pipe({
    write: (piece) => into.write(piece),
    end: () => into.end(end),
    fail: () => response.destroy(),
  });
}
