import type { IncomingMessage, Server } from 'node:http';
import type { TrackedResponse } from './unsent/trackedResponse.ts';

/** Answers some requests itself, before any framework sees them. */
export interface Interceptor {
  handles(url: string | undefined): boolean;
  handle(request: IncomingMessage, response: TrackedResponse): void;
}

/** Puts an interceptor before whatever listens to a server's requests now. The server's responses are TrackedResponses. */
export function interceptRequests(server: Server, interceptor: Interceptor): void {
  const others = server.listeners('request') as Array<(...args: unknown[]) => void>; // node types them as functions
  server.removeAllListeners('request');
  server.on('request', (request, anyResponse) => {
    const response = anyResponse as TrackedResponse; // its types do not tell the class that it was made with
    if (interceptor.handles(request.url)) interceptor.handle(request, response);
    else for (const other of others) other.call(server, request, response);
  });
}
