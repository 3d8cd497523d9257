/** An error as it is shown to the user: what happened, what is still true, and what to do. */
export interface Failure {
  readonly what: string;
  readonly still: string;
  readonly todo: string;
  /** HTTP status of the response; undefined if no response arrived. */
  readonly status: number | undefined;
  /** Error messages of the server, each with the field of the request if the server names one. */
  readonly faults: readonly { readonly field: string | undefined; readonly message: string }[];
}

export type Outcome<T> = { readonly value: T } | { readonly failure: Failure };

export type Words = Pick<Failure, 'what' | 'still' | 'todo'>;

/** Returns the texts of a failure that changed nothing, unless `still` states another fact. */
export const words = (what: string, todo: string, still = 'Nothing was changed.'): Words => ({
  what,
  still,
  todo,
});

const BY_STATUS: Readonly<Record<number, Words>> = {
  400: words('The server rejected the request.', 'Correct the errors below, then send it again.'),
  401: words(
    'The token is not valid: it is unknown, expired or revoked.',
    'Sign in with another token: `floodgate token create` creates one.',
    'Rules and traffic have not changed.',
  ),
  403: words('The token does not allow this.', 'Sign in with a token that has the permission below.'),
  404: words('It was not found.', 'Go back to the list: it may have been deleted.'),
  409: words(
    'The server cannot create another entry.',
    'Change the existing entry, or delete entries that you do not need.',
  ),
  412: words(
    'Another client changed it in the meantime.',
    'Check the new version, then try again.',
    'That change was saved; yours was not.',
  ),
  429: words('Too many requests with this token.', 'Wait a few seconds, then try again.'),
  503: words(
    'The store of the server is unavailable, or its disk is full.',
    'Check /readyz, or try again later.',
    'The guard continues with its current rules.',
  ),
};

export const UNKNOWN = 'It is not known whether anything was changed.';
const CHECK = 'Check the current state before you try again.';
const ANY = words(
  'The server could not process the request.',
  `${CHECK} The request id is in the log of the server.`,
  UNKNOWN,
);
const ANY_READ = words(
  'The server could not read this.',
  'Try again. The request id is in the log of the server.',
);

/**
 * Returns the failure of a request without a response. Its text is about that request only, because the server may
 * answer again while the text is shown.
 */
export const unansweredFailure = (method = 'GET'): Failure => ({
  status: undefined,
  faults: [],
  ...(method === 'GET'
    ? words('The server did not answer.', 'Try again, or check whether the server is running.')
    : words('The server did not answer.', CHECK, UNKNOWN)),
});

/** Objects by the last part of the path that is not an id. The server's own message for 404 names only the path. */
const OBJECTS: Readonly<Record<string, string>> = {
  rules: 'Rule',
  zones: 'Zone policy',
  attacks: 'Attack',
  allowlist: 'Entry',
  denylist: 'Entry',
  tokens: 'Token',
  keys: 'Key',
  sessions: 'Session',
};

interface FailedRequest {
  readonly path: string;
  readonly method?: string | undefined;
}

export function failureOf(status: number, body: unknown, { path, method = 'GET' }: FailedRequest): Failure {
  const any = method === 'GET' ? ANY_READ : ANY;
  if (status !== 404) return { ...(BY_STATUS[status] ?? any), status, faults: faultsOf(body) };
  const name = path
    .split('/')
    .reverse()
    .flatMap((part) => OBJECTS[part] ?? [])[0];
  return { ...(BY_STATUS[404] ?? any), what: `${name ?? 'It was'} not found.`, status, faults: [] };
}

/**
 * Returns the errors in a body: `{error}` or `{errors: [{message, source: {pointer}, error_chain: [{message}]}]}`.
 */
function faultsOf(body: unknown): Failure['faults'] {
  if (typeof body !== 'object' || body === null) return [];
  if ('errors' in body && Array.isArray(body.errors))
    return body.errors.flatMap((entry: Record<string, unknown>) => {
      const chain = Array.isArray(entry['error_chain']) ? (entry['error_chain'] as unknown[]) : [];
      const pointer = (entry['source'] as { pointer?: unknown } | undefined)?.pointer;
      const field = typeof pointer === 'string' ? pointer.slice(1) : undefined;
      const messages =
        chain.length > 0 ? chain.map((link) => (link as { message?: unknown }).message) : [entry['message']];
      return messages.map((message) => ({ field, message: String(message) }));
    });
  if ('error' in body) return [{ field: undefined, message: String(body.error) }];
  return [];
}
