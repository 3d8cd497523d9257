import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { connectionEvent } from './connectionEvent.ts';
import { Pipeline } from './pipelining/pipeline.ts';
import { Turns } from './pipelining/turns.ts';
import { connectionOf } from './unsent/connection.ts';
import type { TrackedResponse } from './unsent/trackedResponse.ts';

/** Answers some requests itself, before any framework sees them. */
export interface Interceptor {
  handles(url: string | undefined): boolean;
  handle(request: IncomingMessage, response: TrackedResponse): void;
}

/**
 * Hands the requests of each connection, one after the other, to an interceptor or to whatever listens to a server's requests
 * now. The server's responses are TrackedResponses, and its connections are watched already.
 */
export function serveInOrder(server: Server, interceptor?: Interceptor): void {
  const others = server.listeners('request') as Array<(...args: unknown[]) => void>; // node types them as functions
  const turns = new Turns();
  const handle = (response: TrackedResponse): void => {
    const { req: request } = response;
    if (interceptor?.handles(request.url) === true) interceptor.handle(request, response);
    else for (const other of others) other.call(server, request, response);
  };
  server.on(connectionEvent(server), (socket: Socket) => {
    connectionOf(socket)?.orderWith(new Pipeline(socket, { turns, handle }));
  });
  server.removeAllListeners('request');
  server.on('request', (_request, anyResponse) => {
    const response = anyResponse as unknown as TrackedResponse; // its types do not tell the class that it was made with
    response.arrived();
  });
}
