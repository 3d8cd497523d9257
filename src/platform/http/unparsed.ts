import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { connectionOf } from './unsent/connection.ts';

/**
 * The body of an answer to a request that reaches no route, as it cannot be read or is refused: by its status, its URL where that
 * arrived, and what to say where the status does not say all.
 */
export type UnroutedBody = (status: number, url: string | undefined, message?: string) => string;

/** Answers what HTTP's own reader refuses, in JSON, counts it, and closes the connection: where its next request begins nobody knows. */
export function answerUnparsed(server: Server, bodyOf: UnroutedBody): void {
  server.removeAllListeners('clientError');
  server.on('clientError', (error: ClientError, socket: Socket) => {
    // Whoever hung up, or is being answered, gets nothing more.
    if (!socket.writable || socket.bytesWritten > 0 || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const status = STATUSES[error.code ?? ''] ?? 400;
    const url = REQUEST_LINE.exec(error.rawPacket?.toString('latin1', 0, MAX_LINE_BYTES) ?? '')?.[1];
    const body = bodyOf(status, url);
    connectionOf(socket)?.unreadable(status);
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      () => socket.destroySoon(),
    );
  });
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
