import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Connection, connectionOf } from '../unsent/connection.ts';
import { TrackedResponse } from '../unsent/trackedResponse.ts';

const SWITCHING_PROTOCOLS = 101;

/** A connection that has left HTTP. */
export interface UpgradedConnection {
  readonly socket: Socket;
  /** What the client has sent behind its request. */
  readonly head: Buffer;
  readonly connection: Connection;
}

/** A request for a WebSocket: it is accepted, or answered like any other, after which the connection is closed. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly response: TrackedResponse;
  accept(): UpgradedConnection;
}

/** Undefined, and the connection closed, where its client has sent requests ahead that are not answered yet. */
export function upgradeOf(request: IncomingMessage, socket: Socket, head: Buffer): Upgrade | undefined {
  // node:http listens to its errors no more.
  socket.on('error', () => socket.destroy());
  const connection = connectionOf(socket);
  const unparsed = connection?.upgraded();
  if (connection === undefined || unparsed === undefined) {
    socket.destroy();
    return undefined;
  }
  const response = new TrackedResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  const finished = (): void => {
    response.detachSocket(socket);
    socket.destroySoon();
  };
  response.once('finish', finished);
  return {
    request,
    response,
    accept() {
      response.off('finish', finished);
      response.statusCode = SWITCHING_PROTOCOLS;
      response.detachSocket(socket);
      return { socket, head: unparsed.length === 0 ? head : Buffer.concat([head, unparsed]), connection };
    },
  };
}
