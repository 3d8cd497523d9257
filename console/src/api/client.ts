/** The REST API, typed by its OpenAPI document. Each call gives a value or a failure in words; it never throws. */
import { token as currentToken, refusal } from './credentials.ts';
import { type Failure, failureOf, failureWithoutAnswer, type Outcome } from './failure.ts';

export const API = '/client/v4';

/** An answer with its tag, for `If-Match`. */
export interface Answer<T> {
  readonly result: T;
  readonly etag: string | undefined;
  readonly messages: readonly string[];
  readonly info: PageInfo;
}

export interface PageInfo {
  readonly total_count?: number;
  readonly total_pages?: number;
  readonly cursor?: string;
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE' | undefined;
  /** Left out: {@link API}. */
  readonly base?: '/operations';
  /** Below the base, with what is in it encoded; made with {@link pathOf}. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** Of who signs in; that of the session where left out. */
  readonly token?: string;
}

/** A path of parts that come from outside: none of them can make another path. */
export function pathOf(strings: TemplateStringsArray, ...values: readonly string[]): string {
  return strings.reduce((path, text, i) => path + encodeURIComponent(values[i - 1] ?? '') + text);
}

export async function call<T>(request: Call): Promise<Outcome<Answer<T>>> {
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(urlOf(request), {
      method: request.method ?? 'GET',
      headers: headersOf(request),
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      ...(request.signal && { signal: request.signal }),
      cache: 'no-store',
    });
    body = await response.json();
  } catch {
    return { failure: failureWithoutAnswer() };
  }
  if (!response.ok) return { failure: noteFailure(failureOf(response.status, body), request) };
  // The document says so, and the server is held to it by its tests.
  const {
    result,
    messages = [],
    result_info: info = {},
  } = body as {
    result: T;
    messages?: readonly { message: string }[];
    result_info?: PageInfo;
  };
  const etag = response.headers.get('etag') ?? undefined;
  return { value: { result, etag, messages: messages.map(({ message }) => message), info } };
}

export const headersOf = ({
  headers,
  body,
  token = currentToken.value ?? '',
}: Call): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...headers,
});

export function urlOf({ base, path, query = {} }: Call): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${base ?? API}${path}${search.size > 0 ? `?${search}` : ''}`;
}

/** The same call for a shell, with the token as a variable. */
export function curlOf(request: Call): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const { authorization: _, ...others } = headersOf(request);
  return [
    'curl',
    ...(request.method === undefined || request.method === 'GET' ? [] : ['-X', request.method]),
    quote(location.origin + urlOf(request)),
    '-H "Authorization: Bearer $FLOODGATE_TOKEN"',
    ...Object.entries(others).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(request.body === undefined ? [] : ['--data', quote(JSON.stringify(request.body))]),
  ].join(' ');
}

/** A token that is valid no more signs out, with the reason. */
function noteFailure(failure: Failure, { token }: Call): Failure {
  if (failure.status === 401 && token === undefined) refusal.value = failure;
  return failure;
}
