import type { IncomingMessage } from 'node:http';
import type { Span } from './span.ts';
import type { Tracer } from './tracer.ts';

export interface SpannedResponse {
  readonly req: IncomingMessage;
  readonly statusCode: number;
  readonly headersSent: boolean;
  onFinished(then: () => void): void;
}

/** HTTP methods that spans name. Other methods are not named, because they may be any text from the client. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OTHER_METHOD = '_OTHER';
const FIRST_SERVER_ERROR = 500;

/** Starts the span of an HTTP request, which ends with the response. `route` is the pattern of the path. */
export function beginHttpSpan(
  tracer: Tracer,
  response: SpannedResponse,
  route: string | undefined,
): Span | undefined {
  const { method = '', headers } = response.req;
  const isKnown = METHODS.has(method);
  const name = [isKnown ? method : 'HTTP', ...(route === undefined ? [] : [route])].join(' ');
  const span = tracer.begin({ name, kind: 'server', traceparent: headers['traceparent'] });
  if (span === undefined) return undefined;
  span.set('http.request.method', isKnown ? method : OTHER_METHOD);
  if (route !== undefined) span.set('http.route', route);
  response.onFinished(() => {
    const { statusCode, headersSent } = response;
    if (!headersSent) return span.end('client_gone');
    span.set('http.response.status_code', statusCode);
    span.end(statusCode >= FIRST_SERVER_ERROR ? String(statusCode) : undefined);
  });
  return span;
}
