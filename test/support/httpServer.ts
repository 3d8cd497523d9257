import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export interface HttpServer {
  readonly url: string;
  /** Closes every connection and the server. */
  stop(): Promise<void>;
}

/** Handles a request after its body was received in full. */
type Handler = (body: string, request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** Starts an HTTP server on a free port of loopback, for example a fake node. */
export async function startHttpServer(handle: Handler): Promise<HttpServer> {
  const server = createServer(async (request, response) => {
    await handle(await text(request), request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
