import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressOfSocket } from '../addresses/index.ts';
import type { BudgetClient } from '../budgets/index.ts';
import { Scheduler } from '../scheduler/index.ts';
import { connectionOf } from './connection.ts';
import { connectionEvent } from './connectionEvent.ts';
import type { ErrorBody } from './malformedRequests.ts';
import { RequestQueue } from './requestQueue.ts';
import { retryAfter } from './retryAfter.ts';
import { clientOf as clientBy, identifyClient } from './unfinished/countedRequest.ts';
import { countUnfinished } from './unfinished/countUnfinished.ts';
import type { UnfinishedMessages } from './unfinished/unfinishedMessages.ts';
import type { TrackedResponse } from './unsent/trackedResponse.ts';
import { type Upgrade, upgradeOf } from './webSocket/upgrade.ts';

export interface Interceptor {
  handles(url: string | undefined): boolean;
  handle(request: IncomingMessage, response: TrackedResponse): void;
  /** Returns the id of the API key of a request. Called only for requests whose body is incomplete. */
  keyIdOf?(request: IncomingMessage): string | undefined;
  /** Accepts a WebSocket, or answers its request like any other. Without this method, no WebSocket is accepted. */
  upgrade?(upgrade: Upgrade): void;
}

export interface RequestRejection {
  readonly status: 400 | 403 | 417 | 421 | 429;
  readonly message: string;
}

export interface ServeInOrderOptions {
  readonly interceptor?: Interceptor | undefined;
  readonly refusal?: ((request: IncomingMessage) => RequestRejection | undefined) | undefined;
  readonly errorBody?: ErrorBody;
  /** Divides the processor time among clients. Default: a scheduler of this server. */
  readonly scheduler?: Scheduler | undefined;
  /** Returns the client of a request. Default: that of the socket's address. */
  readonly clientOf?: ((request: IncomingMessage) => BudgetClient) | undefined;
  /** Counts incomplete requests. Default: not counted. */
  readonly unfinished?: UnfinishedMessages | undefined;
  /** Called for each request before it is answered, also for rejected requests. */
  readonly handled?: ((response: TrackedResponse) => void) | undefined;
}

/**
 * Passes the requests of each connection, one after the other, to the interceptor or to the server's current
 * listeners. The server's responses must be TrackedResponses, and `Readers` must already watch the server.
 */
export function serveInOrder(server: Server, options: ServeInOrderOptions = {}): void {
  const { interceptor, refusal, errorBody, unfinished, handled, scheduler = new Scheduler() } = options;
  const { clientOf = clientOfSocket } = options;
  const others = server.listeners('request') as Array<(...args: unknown[]) => void>; // node's types say only Function
  const handle = (response: TrackedResponse): void => {
    handled?.(response);
    const { req: request } = response;
    const proceed = (): void =>
      scheduler.run(clientOf(request), () => {
        if (!request.socket.destroyed) dispatch(response);
      });
    if (unfinished === undefined) return proceed();
    countUnfinished(unfinished, response, {
      proceed,
      identify: () => {
        const keyId = interceptor?.handles(request.url) === true ? interceptor.keyIdOf?.(request) : undefined;
        if (keyId !== undefined) identifyClient(request, { ...clientOf(request), keyId });
      },
      reject: () => refuse(response, TOO_MUCH_UNFINISHED, errorBody),
    });
  };
  const rejectionOf = (request: IncomingMessage): RequestRejection | undefined =>
    hostRejection(request) ?? expectRejection(request) ?? refusal?.(request);
  const dispatch = (response: TrackedResponse): void => {
    const { req: request } = response;
    const refused = rejectionOf(request);
    if (refused !== undefined) refuse(response, refused, errorBody);
    else if (interceptor?.handles(request.url) === true) interceptor.handle(request, response);
    else for (const other of others) other.call(server, request, response);
  };
  // `rejectionOf` rejects requests without Host. Node's own response has no body.
  Object.assign(server, { requireHostHeader: false });
  // A client that ends its side after a whole request still receives the response. @types/node lacks this property.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on(connectionEvent(server), (socket: Socket) => {
    // With TLS, node's default is false. During the handshake it must be false, so that a closed connection is noticed.
    socket.allowHalfOpen = true;
    const defer = (request: IncomingMessage, work: () => void): void =>
      scheduler.defer(clientOf(request), work);
    connectionOf(socket)?.orderWith(new RequestQueue(socket, { defer, handle, clientOf }));
  });
  server.removeAllListeners('request');
  const receive: RequestListener = (request, anyResponse) => {
    const response = anyResponse as unknown as TrackedResponse; // node's types name its own class only
    useOriginForm(request);
    connectionOf(request.socket)?.arrived(response);
  };
  server.on('request', receive);
  // Node reports requests with an unknown Expect only here; `rejectionOf` rejects them.
  server.on('checkExpectation', receive);
  if (interceptor?.upgrade === undefined) return;
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    useOriginForm(request);
    const upgrade = upgradeOf(request, socket, head);
    if (upgrade === undefined) return;
    const isRefused = rejectionOf(request) !== undefined || !interceptor.handles(request.url);
    handled?.(upgrade.response);
    // WebSocket requests have no body.
    if (isRefused) return dispatch(upgrade.response);
    interceptor.upgrade?.(upgrade);
  });
}

const ONE_HOST = 'allowed: one (RFC 9112, section 3.2)';
const NO_HOST: RequestRejection = { status: 400, message: `the request has no Host header; ${ONE_HOST}` };
const SEVERAL_HOSTS: RequestRejection = {
  status: 400,
  message: `the request has more than one Host header; ${ONE_HOST}`,
};
const HOST = 'host';

/** Rejects several Host headers, of which `request.headers` has only the first, and HTTP/1.1 without Host. */
function hostRejection({ rawHeaders, httpVersion }: IncomingMessage): RequestRejection | undefined {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts++;
  }
  if (hosts > 1) return SEVERAL_HOSTS;
  return hosts === 0 && httpVersion === '1.1' ? NO_HOST : undefined;
}

/** Rejects an unknown Expect. HTTP/1.0 has no such header (RFC 9110, section 10.1.1). */
function expectRejection({
  headers: { expect },
  httpVersion,
}: IncomingMessage): RequestRejection | undefined {
  if (expect === undefined || httpVersion !== '1.1' || /\b100-continue\b/i.test(expect)) return undefined;
  const shown = JSON.stringify(expect.slice(0, MAX_SHOWN_LENGTH));
  return { status: 417, message: `the Expect header is ${shown}; allowed: 100-continue` };
}
const MAX_SHOWN_LENGTH = 100;

/**
 * Replaces a whole URL in the request line by its path and query, and Host by the authority of the URL (RFC 9112,
 * section 3.2.2).
 */
function useOriginForm(request: IncomingMessage): void {
  const [, authority, rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(request.url ?? '') ?? [];
  if (authority === undefined) return;
  request.headers.host = authority;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
}

const clientOfSocket = (request: IncomingMessage): BudgetClient => clientBy(request, addressOfSocket);

const TOO_MUCH_UNFINISHED: RequestRejection = {
  status: 429,
  message: 'too many unfinished requests from this address; send bodies faster, or try again later',
};
/** Value of the Retry-After header. Some incomplete requests finish or are closed within this time. */
const RETRY_AFTER_SECONDS = 1;

/** Answers a rejected request, and closes the connection, because the body of the request is not read. */
function refuse(
  response: TrackedResponse,
  { status, message }: RequestRejection,
  bodyOf: ErrorBody = () => JSON.stringify({ error: message }),
): void {
  const body = bodyOf(status, response.req.url, message);
  const headers = { connection: 'close', 'content-type': 'application/json' };
  if (status === 429) response.setHeader('retry-after', retryAfter(RETRY_AFTER_SECONDS));
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}
