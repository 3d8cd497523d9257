import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Connection, connectionOf } from './unsent/connection.ts';

/**
 * The body of an answer to a request that reaches no route, as it cannot be read or is refused: by its status, its URL where that
 * arrived, and what to say where the status does not say all.
 */
export type UnroutedBody = (status: number, url: string | undefined, message?: string) => string;

/**
 * Answers what HTTP's own reader refuses, in JSON, counts it, and closes the connection: where its next request begins nobody knows.
 * Requests that came whole before it have their answers first, and it gets none then: a client takes answers in the order of its requests.
 */
export function answerUnparsed(server: Server, bodyOf: UnroutedBody): void {
  server.removeAllListeners('clientError');
  server.on('clientError', (error: ClientError, socket: Socket) => {
    const connection = connectionOf(socket);
    if (!socket.writable || error.code === 'ECONNRESET' || connection === undefined) socket.destroy();
    else connection.unreadable(() => answer(error, { socket, connection, bodyOf }));
  });
}

interface Answering {
  readonly socket: Socket;
  readonly connection: Connection;
  readonly bodyOf: UnroutedBody;
}

function answer(error: ClientError, { socket, connection, bodyOf }: Answering): void {
  // Behind an answer it would be taken for that of a request; one that is cut is no answer.
  if (!socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const status = STATUSES[error.code ?? ''] ?? 400;
  const url = REQUEST_LINE.exec(error.rawPacket?.toString('latin1', 0, MAX_LINE_BYTES) ?? '')?.[1];
  const body = bodyOf(status, url);
  connection.toldUnreadable(status);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroySoon(),
  );
}

interface ClientError extends Error {
  readonly code?: string;
  /** What arrived last. */
  readonly rawPacket?: Buffer;
}

const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const MAX_LINE_BYTES = 1024;
const REQUEST_LINE = /^[A-Z]+ (\S+)/;
