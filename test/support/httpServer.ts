import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export interface HttpServer {
  readonly url: string;
  /** Cuts every connection. */
  stop(): Promise<void>;
}

/** What a server does with a request, once that is there as a whole. */
type Handler = (body: string, request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** Stands on a free port of loopback, for as long as a test plays the node that a gateway asks. */
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
