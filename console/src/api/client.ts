/** Client of the REST API, typed by its OpenAPI document. Calls never throw: they return a value or a failure. */
import { inSession, SECRET_OF_SESSION, sessionRejection } from './credentials.ts';
import { curlCommand, type HttpRequest } from './curl.ts';
import { type Failure, failureOf, type Outcome, unansweredFailure } from './failure.ts';
import type { Schemas } from './types.ts';

export const API = '/client/v4';
/** Time after which a request counts as not answered. Longer than the server's own limits. */
const TIMEOUT_MS = 30_000;
/** Status of a response without a body: the client has the current version (`If-None-Match`). */
export const NOT_MODIFIED = 304;

/** A successful response of the REST API. A change of the object sends its `etag` as `If-Match`. */
export interface ApiResponse<T> {
  readonly result: T;
  readonly etag: string | undefined;
  readonly messages: readonly string[];
  readonly info: PageInfo;
}

type PageInfo = Partial<Schemas['ResultInfo'] & Schemas['CursorInfo']>;

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | undefined;
  /** Base path of the request. Default: {@link API}. */
  readonly base?: '/operations' | '/console';
  /** Percent-encoded path below the base path; see {@link pathOf}. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Template tag for URL paths. Percent-encodes values, so that an untrusted value cannot address another resource. */
export function pathOf(strings: TemplateStringsArray, ...values: readonly string[]): string {
  return strings.reduce((path, text, i) => path + encodeURIComponent(values[i - 1] ?? '') + text);
}

export async function callJson<T>(
  request: ApiRequest,
): Promise<Outcome<{ body: T; etag: string | undefined }>> {
  try {
    const { url, ...sent } = inSession(httpRequestOf(request));
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { ...sent, cache: 'no-store', signal });
    const body: unknown = response.status === NOT_MODIFIED ? undefined : await response.json();
    if (!response.ok) return { failure: failureOf(response.status, body, request) };
    // The OpenAPI document specifies the shape, and tests of the server check it.
    return { value: { body: body as T, etag: response.headers.get('etag') ?? undefined } };
  } catch {
    return { failure: unansweredFailure(request.method) };
  }
}

interface Envelope<T> {
  readonly result: T;
  readonly messages?: readonly { readonly message: string }[];
  readonly result_info?: PageInfo;
}

export async function call<T>(request: ApiRequest): Promise<Outcome<ApiResponse<T>>> {
  const answer = await callJson<Envelope<T>>(request);
  if ('failure' in answer) {
    if (answer.failure.status === 401) rejectSession(answer.failure);
    return answer;
  }
  const { result, messages = [], result_info: info = {} } = answer.value.body;
  const { etag } = answer.value;
  return { value: { result, etag, messages: messages.map(({ message }) => message), info } };
}

const MAX_PAGES = 10;

/** Reads a list with page numbers: its first ten pages. */
export async function callPages<T>(path: string, perPage: number): Promise<Outcome<readonly T[]>> {
  const found: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const answer = await call<readonly T[]>({ path, query: { page, per_page: perPage } });
    if ('failure' in answer) return answer;
    found.push(...answer.value.result);
    if (page >= (answer.value.info.total_pages ?? 1)) break;
  }
  return { value: found };
}

const httpRequestOf = (request: ApiRequest): HttpRequest => ({
  method: request.method ?? 'GET',
  url: urlOf(request),
  headers: {
    authorization: `Bearer ${SECRET_OF_SESSION}`,
    ...(request.body !== undefined && { 'content-type': 'application/json' }),
    ...request.headers,
  },
  ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
});

function urlOf({ base, path, query = {} }: ApiRequest): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return `${base ?? API}${path}${search.size > 0 ? `?${search}` : ''}`;
}

export const curlOf = (request: ApiRequest): string => curlCommand(httpRequestOf(request), 'FLOODGATE_TOKEN');

const ENDED: Pick<Failure, 'what' | 'todo'> = {
  what: 'Your session has ended: after 12 hours, or because it or its token was ended or revoked.',
  todo: 'Sign in again.',
};

/** Shows the sign-in form, because the server no longer accepts the session. */
export function rejectSession(failure: Failure): void {
  sessionRejection.value = { ...failure, ...ENDED };
}
