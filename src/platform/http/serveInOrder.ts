import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { connectionEvent } from './connectionEvent.ts';
import { Pipeline } from './pipelining/pipeline.ts';
import { Turns } from './pipelining/turns.ts';
import type { UnroutedBody } from './unparsed.ts';
import { connectionOf } from './unsent/connection.ts';
import type { TrackedResponse } from './unsent/trackedResponse.ts';
import { type Upgrade, upgradeOf } from './webSocket/upgrade.ts';

/** Answers some requests itself, before any framework sees them. */
export interface Interceptor {
  handles(url: string | undefined): boolean;
  handle(request: IncomingMessage, response: TrackedResponse): void;
  /** Takes a connection whose client wants a WebSocket, or answers its request as any other. Left out: there are none. */
  upgrade?(upgrade: Upgrade): void;
}

/** Why a request is answered by nothing that is served. */
export interface Refusal {
  readonly status: 403 | 421;
  readonly message: string;
}

export interface ServeInOrderOptions {
  readonly interceptor?: Interceptor | undefined;
  /** Looks at each request before anything else does. */
  readonly refusal?: ((request: IncomingMessage) => Refusal | undefined) | undefined;
  readonly errorBody?: UnroutedBody;
  /** Hears of each request, refused ones too, before it is answered. */
  readonly handled?: ((response: TrackedResponse) => void) | undefined;
}

/**
 * Hands the requests of each connection, one after the other, to an interceptor or to whatever listens to a server's requests
 * now. The server's responses are TrackedResponses, and its connections are watched already.
 */
export function serveInOrder(
  server: Server,
  { interceptor, refusal, errorBody, handled }: ServeInOrderOptions = {},
): void {
  const others = server.listeners('request') as Array<(...args: unknown[]) => void>; // node types them as functions
  const turns = new Turns();
  const keepAliveTimeoutMs = (): number => server.keepAliveTimeout;
  const handle = (response: TrackedResponse): void => {
    const { req: request } = response;
    handled?.(response);
    const refused = refusal?.(request);
    if (refused !== undefined) refuse(response, refused, errorBody);
    else if (interceptor?.handles(request.url) === true) interceptor.handle(request, response);
    else for (const other of others) other.call(server, request, response);
  };
  server.on(connectionEvent(server), (socket: Socket) => {
    const connection = connectionOf(socket);
    const refused = handled === undefined ? (status: number) => connection?.refused(status) : undefined;
    connection?.orderWith(new Pipeline(socket, { turns, handle, refused, keepAliveTimeoutMs }));
  });
  server.removeAllListeners('request');
  server.on('request', (_request, anyResponse) => {
    const response = anyResponse as unknown as TrackedResponse; // its types do not tell the class that it was made with
    response.arrived();
  });
  if (interceptor?.upgrade === undefined) return;
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const upgrade = upgradeOf(request, socket, head);
    if (upgrade === undefined) return;
    const isRefused = refusal?.(request) !== undefined || !interceptor.handles(request.url);
    if (isRefused) return handle(upgrade.response);
    handled?.(upgrade.response);
    interceptor.upgrade?.(upgrade);
  });
}

/** Its body is not read, so the connection is of no more use. */
function refuse(
  response: TrackedResponse,
  { status, message }: Refusal,
  bodyOf: UnroutedBody = () => JSON.stringify({ error: message }),
): void {
  const body = bodyOf(status, response.req.url, message);
  const headers = { connection: 'close', 'content-type': 'application/json' };
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}
