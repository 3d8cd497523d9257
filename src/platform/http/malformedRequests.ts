import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Connection, connectionOf } from './connection.ts';

/**
 * Returns the response body for a request that reaches no route. `url` is undefined if the URL did not arrive;
 * `message` explains the status.
 */
export type ErrorBody = (status: number, url: string | undefined, message?: string) => string;

/**
 * Answers unparsable requests in JSON, counts the answers, and closes the connection, because the start of the next
 * request is unknown. If other requests precede the unparsable one, only those are answered, because clients match
 * responses to requests by their order.
 */
export function answerMalformedRequests(server: Server, bodyOf: ErrorBody): void {
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
  readonly bodyOf: ErrorBody;
}

function answer(error: ClientError, { socket, connection, bodyOf }: Answering): void {
  // Clients match responses to requests by their order. After an earlier response, the client could take the error
  // for the response to another request.
  if (!socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const status = STATUSES[error.code ?? ''] ?? 400;
  const url = REQUEST_LINE.exec(error.rawPacket?.toString('latin1', 0, MAX_LINE_BYTES) ?? '')?.[1];
  const body = bodyOf(status, url);
  connection.reportedUnreadable(status);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroySoon(),
  );
}

interface ClientError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const MAX_LINE_BYTES = 1024;
const REQUEST_LINE = /^[A-Z]+ (\S+)/;
