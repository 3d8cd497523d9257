import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Answers some requests itself, before any framework sees them. */
export interface Interceptor {
  handles(url: string | undefined): boolean;
  handle(request: IncomingMessage, response: ServerResponse): void;
}

/** Puts an interceptor before whatever listens to a server's requests now. */
export function interceptRequests(server: Server, interceptor: Interceptor): void {
  const others = server.listeners('request') as Array<(...args: unknown[]) => void>; // node types them as functions
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (interceptor.handles(request.url)) interceptor.handle(request, response);
    else for (const other of others) other.call(server, request, response);
  });
}
