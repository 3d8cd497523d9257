import type { Writable } from 'node:stream';
import type { TrackedResponse } from '../../platform/http/index.ts';
import type { HttpAnswer, Part, ResultStream } from '../jsonrpc/index.ts';

/** A single answer has three parts, which node takes as they are sooner than they are joined. */
const MAX_PARTS_APART = 3;
/** Parts that are smaller than this, as most in a batch are, are copied sooner than handed over. */
const MIN_PART_BYTES_APART = 1024;

/** Writes an answer with these headers, names and values in turn. */
export function respond(response: TrackedResponse, answer: HttpAnswer, headers: string[]): void {
  const { status, parts, stream, retryAfterSeconds } = answer;
  if (response.isOver) {
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
    pipe(stream, { into: response, response, end });
    return;
  }
  if (answer.release !== undefined) response.whenOver(answer.release);
  const length = bytesOf(parts);
  headers.push('content-length', String(length));
  response.writeHead(status, headers);
  if (parts.length > MAX_PARTS_APART && length < parts.length * MIN_PART_BYTES_APART) {
    response.end(joined(parts, length));
    return;
  }
  // Node gathers them into one call to the system, the head together with text that follows it.
  const last = parts.length - 1;
  parts.forEach((part, i) => {
    if (i < last) response.write(part, encodingOf(part));
    else response.end(part, encodingOf(part));
  });
}

export const bytesOf = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);

/** Parts as one. */
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

/** Text of one byte a character, as nearly all is, is joined and copied as it is; bytes have no encoding. */
const encodingOf = (part: Part): BufferEncoding =>
  Buffer.byteLength(part) === part.length ? 'latin1' : 'utf8';

/** Where a stream goes: the response itself, or what compresses into it. */
interface Piped {
  readonly into: Pick<Writable, 'on' | 'write' | 'end'>;
  readonly response: TrackedResponse;
  /** Stands behind it. */
  readonly end: Part;
}

/** A stream into a response. Where it breaks off the connection is cut, so that half an answer never looks whole. */
export function pipe(stream: ResultStream, { into, response, end }: Piped): void {
  into.on('drain', () => stream.resume());
  response.whenOver(() => stream.abort());
  stream.pipe({
    write: (piece) => into.write(piece),
    end: () => into.end(end),
    fail: () => response.destroy(),
  });
}
