import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { HttpAnswer, ResultStream } from '../rpc/index.ts';

/** A client that reads nothing of a large answer for this long is hung up on: a node waits for it. */
const STALLED_CLIENT_MS = 30_000;

/**
 * Writes an answer past the framework's reply, which would cost more than the rest of a cached answer: its headers are
 * the ones here and none else.
 */
export function respond(reply: FastifyReply, answer: HttpAnswer, headers: string[]): void {
  reply.hijack();
  const { raw } = reply;
  const { status, parts, stream, retryAfterSeconds } = answer;
  if (retryAfterSeconds !== undefined) headers.push('retry-after', String(Math.ceil(retryAfterSeconds)));
  if (parts.length === 0) {
    raw.writeHead(status, headers);
    raw.end();
    return;
  }
  headers.push('content-type', 'application/json');
  if (stream !== undefined) {
    raw.writeHead(status, headers);
    const [start = EMPTY, end = EMPTY] = parts;
    raw.write(start);
    pipe(stream, raw, end);
    return;
  }
  const body = parts.length === 1 ? (parts[0] ?? EMPTY) : Buffer.concat(parts);
  headers.push('content-length', String(body.length));
  raw.writeHead(status, headers);
  raw.end(body);
}

const EMPTY = new Uint8Array();

/** A stream into a response. Where it breaks off the connection is cut, so that half an answer never looks whole. */
function pipe(stream: ResultStream, raw: ServerResponse, end: Uint8Array): void {
  const stalled = setTimeout(() => raw.destroy(), STALLED_CLIENT_MS);
  raw.on('drain', () => {
    stalled.refresh();
    stream.resume();
  });
  raw.on('close', () => {
    clearTimeout(stalled);
    stream.abort();
  });
  stream.pipe({
    write: (piece) => raw.write(piece),
    end: () => raw.end(end),
    fail: () => raw.destroy(),
  });
}
