import { signal } from '@preact/signals';
import type { HttpRequest } from './curl.ts';
import type { Failure } from './failure.ts';

export const sessionRejection = signal<Failure | undefined>();

/** Header by which the server accepts the cookie of the session. */
export const CONSOLE_HEADERS = { 'x-floodgate-console': '1' };
/** Stands for the token or API key in a request, which is copied with a shell variable and sent with the cookie. */
export const SECRET_OF_SESSION = 'session';
const GATEWAY = '/v1/';

export const gatewayPathOf = (path: string): string => (path.startsWith(GATEWAY) ? `/console${path}` : path);

/** Returns a request as the console sends it: the cookie of the session replaces the token or API key. */
export function inSession({ url, headers: all, ...request }: HttpRequest): HttpRequest {
  const { authorization: _, ...headers } = all;
  return { ...request, url: gatewayPathOf(url), headers: { ...headers, ...CONSOLE_HEADERS } };
}
