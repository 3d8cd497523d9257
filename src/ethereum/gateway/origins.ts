/** What `Access-Control-Allow-Origin` a request of an origin gets; undefined for none. */
export type OriginRule = (origin: string | undefined) => string | undefined;

export function originRule(allowed: readonly string[]): OriginRule {
  if (allowed.includes('*')) return () => '*';
  return (origin) => (origin !== undefined && allowed.includes(origin) ? origin : undefined);
}

/** What a page may read of an answer besides its body. */
const EXPOSED_HEADERS = 'x-floodgate-cache, x-floodgate-upstream, x-request-id, retry-after';

/**
 * What a page may send: what the gateway reads, and what libraries, wallets and tracing put on every request of theirs, which would
 * not get through else. A list, not `*`: a page shall not send X-Forwarded-For.
 */
export const ALLOWED_HEADERS = [
  ...['content-type', 'content-encoding', 'authorization'],
  ...['x-api-key', 'x-request-id', 'user-agent', 'cache-control', 'pragma'],
  ...['traceparent', 'tracestate', 'baggage', 'sentry-trace'],
].join(', ');

/** What an answer tells the page that asked for it, and caches in between. */
export function originHeaders(allowed: string | undefined, origin: string | undefined): string[] {
  const headers: string[] = [];
  if (allowed === undefined) return headers;
  headers.push('access-control-allow-origin', allowed);
  if (origin !== undefined) headers.push('access-control-expose-headers', EXPOSED_HEADERS);
  // What is allowed may differ from page to page: a cache in between must not mix them up.
  if (allowed !== '*') headers.push('vary', 'origin');
  return headers;
}
