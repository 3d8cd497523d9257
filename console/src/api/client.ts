/** Client of the REST API, typed by its OpenAPI document. Calls never throw: they return a value or a failure. */
import { token as currentToken, tokenRejection } from './credentials.ts';
import { curlCommand } from './curl.ts';
import { type Failure, failureOf, type Outcome, unreachableFailure } from './failure.ts';

export const API = '/client/v4';

/** A successful response of the REST API. A change of the object sends its `etag` as `If-Match`. */
export interface ApiResponse<T> {
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

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE' | undefined;
  /** Base path of the request. Default: {@link API}. */
  readonly base?: '/operations';
  /** Percent-encoded path below the base path; see {@link pathOf}. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly token?: string;
}

/** Template tag for URL paths. Percent-encodes values, so that an untrusted value cannot address another resource. */
export function pathOf(strings: TemplateStringsArray, ...values: readonly string[]): string {
  return strings.reduce((path, text, i) => path + encodeURIComponent(values[i - 1] ?? '') + text);
}

export async function call<T>(request: ApiRequest): Promise<Outcome<ApiResponse<T>>> {
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
    return { failure: unreachableFailure() };
  }
  if (!response.ok) return { failure: signOutOn401(failureOf(response.status, body), request) };
  // The OpenAPI document specifies this shape, and tests of the server check it.
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

const headersOf = ({
  headers,
  body,
  token = currentToken.value ?? '',
}: ApiRequest): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...headers,
});

function urlOf({ base, path, query = {} }: ApiRequest): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${base ?? API}${path}${search.size > 0 ? `?${search}` : ''}`;
}

/** Returns a request as a curl command, in which a shell variable replaces the token. */
export const curlOf = (request: ApiRequest): string =>
  curlCommand(
    {
      method: request.method ?? 'GET',
      url: urlOf(request),
      headers: headersOf(request),
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
    },
    'FLOODGATE_TOKEN',
  );

/** Ends the session if the server rejects its token with 401. A token that the request itself contains is ignored. */
function signOutOn401(failure: Failure, { token }: ApiRequest): Failure {
  if (failure.status === 401 && token === undefined) tokenRejection.value = failure;
  return failure;
}
