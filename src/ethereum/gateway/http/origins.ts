/** Returns the value of `Access-Control-Allow-Origin` for an origin. Undefined if the header is not sent. */
export type OriginRule = (origin: string | undefined) => string | undefined;

export function originRule(allowed: readonly string[]): OriginRule {
  if (allowed.includes('*')) return () => '*';
  return (origin) => (origin !== undefined && allowed.includes(origin) ? origin : undefined);
}

/** Response headers that a web page may read in addition to the CORS-safelisted ones. */
const EXPOSED_HEADERS = 'x-floodgate-cache, x-floodgate-upstream, x-request-id, retry-after';

/**
 * Request headers that a web page may send: those that the gateway reads, and those that libraries, wallets and tracing
 * tools add to every request. This is a list and not `*`, because a page must not send X-Forwarded-For.
 */
export const ALLOWED_HEADERS = [
  'content-type',
  'content-encoding',
  'authorization',
  'x-api-key',
  'x-request-id',
  'user-agent',
  'cache-control',
  'pragma',
  'traceparent',
  'tracestate',
  'baggage',
  'sentry-trace',
].join(', ');

export function originHeaders(allowed: string | undefined, origin: string | undefined): string[] {
  const headers: string[] = [];
  if (allowed === undefined) return headers;
  headers.push('access-control-allow-origin', allowed);
  if (origin !== undefined) headers.push('access-control-expose-headers', EXPOSED_HEADERS);
  // The allowed origin depends on the request, so shared caches must store one response per origin.
  if (allowed !== '*') headers.push('vary', 'origin');
  return headers;
}
