/** An error as it is shown: what happened, what is still true, what to do. */
export interface Failure {
  readonly what: string;
  readonly still: string;
  readonly todo: string;
  /** Of HTTP; undefined where no answer came. */
  readonly status: number | undefined;
  /** What the server says of each fault, with the field where it names one. */
  readonly faults: readonly { readonly field: string | undefined; readonly message: string }[];
}

export type Outcome<T> = { readonly value: T } | { readonly failure: Failure };

interface Words {
  readonly what: string;
  readonly still: string;
  readonly todo: string;
}

const UNCHANGED = 'Nothing was changed.';

const BY_STATUS: Readonly<Record<number, Words>> = {
  400: {
    what: 'The server does not take what was sent.',
    still: UNCHANGED,
    todo: 'Mend what is named below and send it again.',
  },
  401: {
    what: 'The token is not valid: it is unknown, has expired or was revoked.',
    still: 'Rules and traffic are as they were.',
    todo: 'Sign in with another token: `floodgate token create` makes one.',
  },
  403: {
    what: 'The token does not allow this.',
    still: UNCHANGED,
    todo: 'Sign in with a token that has the permission that is named below.',
  },
  404: {
    what: 'It is not there (any more).',
    still: UNCHANGED,
    todo: 'Go back to the list: somebody may have deleted it.',
  },
  409: { what: 'The account is full.', still: UNCHANGED, todo: 'Delete what is not needed, then try again.' },
  412: {
    what: 'Somebody changed it in the meantime.',
    still: 'Their change holds, and what you wrote is still here.',
    todo: 'Compare below, then send yours again or drop it.',
  },
  429: {
    what: 'Too many requests with this token.',
    still: UNCHANGED,
    todo: 'Wait some seconds, then try again.',
  },
  503: {
    what: 'The server cannot write now: its store is away or its disk is full.',
    still: 'The guard goes on with the rules that it has.',
    todo: 'Look at /readyz, or try again in a moment.',
  },
};

const ANY: Words = {
  what: 'The server could not answer.',
  still: 'Whether anything was changed is not known.',
  todo: 'Look before you try again. The number of the request is in the server’s log.',
};

const NO_ANSWER: Words = {
  what: 'The server cannot be reached.',
  still: 'It may go on without this page; what you see is from the last answer.',
  todo: 'Wait until the dot at the top says live again, or look whether the server runs.',
};

export const failureWithoutAnswer = (): Failure => ({ ...NO_ANSWER, status: undefined, faults: [] });

export function failureOf(status: number, body: unknown): Failure {
  return { ...(BY_STATUS[status] ?? ANY), status, faults: faultsOf(body) };
}

/** Those of the envelope `{errors: [{message, source: {pointer}, error_chain: [{message}]}]}`, or of `{error}`. */
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
