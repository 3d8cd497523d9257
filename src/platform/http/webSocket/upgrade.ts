import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { connectionOf } from '../connection.ts';
import { type Reader, readerOf } from '../unsent/readers.ts';
import { TrackedResponse } from '../unsent/trackedResponse.ts';

const SWITCHING_PROTOCOLS = 101;

/** A connection that no longer speaks HTTP, because its upgrade request was accepted. */
export interface UpgradedConnection {
  readonly socket: Socket;
  /** Bytes that the client sent directly after the upgrade request. */
  readonly head: Buffer;
  readonly reader: Reader;
}

/** A request for a WebSocket. It is accepted, or it is answered like any other request and the connection closes. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly response: TrackedResponse;
  accept(): UpgradedConnection;
}

/**
 * Returns the upgrade that a request asks for. If pipelined requests are still unanswered, closes the connection and
 * returns undefined.
 */
export function upgradeOf(request: IncomingMessage, socket: Socket, head: Buffer): Upgrade | undefined {
  // After an upgrade, node:http no longer handles errors of the socket.
  socket.on('error', () => socket.destroy());
  const connection = connectionOf(socket);
  const reader = readerOf(socket);
  if (reader === undefined || connection?.upgraded() !== true) {
    socket.destroy();
    return undefined;
  }
  const response = new TrackedResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  const over = (): void => {
    response.detachSocket(socket);
    // Node emits `close` only for responses of its own server.
    response.emit('close');
  };
  const finished = (): void => {
    over();
    socket.destroySoon();
  };
  response.once('finish', finished);
  return {
    request,
    response,
    accept() {
      response.off('finish', finished);
      response.statusCode = SWITCHING_PROTOCOLS;
      over();
      return { socket, head, reader };
    },
  };
}
