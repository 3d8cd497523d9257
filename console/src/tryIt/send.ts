/** Sends a request. The text of the response is indented and shortened for display. */
import { inSession } from '../api/credentials.ts';
import type { HttpRequest } from '../api/curl.ts';
import { unansweredFailure } from '../api/failure.ts';

export type SentResponse =
  | {
      readonly status: number;
      readonly ms: number;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly text: string;
    }
  | { readonly error: string };

const SHOWN = [
  'etag',
  'floodgate-stale',
  'idempotent-replayed',
  'ratelimit',
  'retry-after',
  'www-authenticate',
  'allow',
  'x-floodgate-cache',
  'x-floodgate-upstream',
  'x-request-id',
  'x-should-retry',
];
/** Maximum number of displayed characters, because browsers need minutes to render megabytes. */
const MAX_CHARACTERS = 200_000;

/** Sends a request with its secret or, in the console, with the cookie of the session instead. */
export async function send(made: HttpRequest, isInSession = false): Promise<SentResponse> {
  const { url, ...request } = isInSession ? inSession(made) : made;
  const credentials = isInSession ? 'same-origin' : 'omit';
  const startedMs = performance.now();
  try {
    const response = await fetch(url, { ...request, cache: 'no-store', credentials });
    const text = await response.text();
    return {
      status: response.status,
      ms: performance.now() - startedMs,
      headers: SHOWN.flatMap((name) => {
        const value = response.headers.get(name);
        return value === null ? [] : [[name, value] as const];
      }),
      text: shownText(text),
    };
  } catch {
    const { what, todo } = unansweredFailure(request.method);
    return { error: `${what} ${todo}` };
  }
}

/** Returns a text for display: JSON is indented, and text of more than 200,000 characters is cut instead. */
export function shownText(text: string): string {
  const omitted = text.length - MAX_CHARACTERS;
  if (omitted > 0) return `${text.slice(0, MAX_CHARACTERS)}\n… ${omitted} more characters`;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
