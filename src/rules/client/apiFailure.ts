/** A request to the rules API failed. The message is the server's error, or the reason why no response arrived. */
export class ApiFailure extends Error {
  /** HTTP status of the response; undefined if no response arrived. */
  readonly status: number | undefined;
  /** Whether the request was sent before with an unknown outcome, so that the change may have been made. */
  readonly afterLostResponse: boolean;

  constructor(message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'ApiFailure';
    this.status = details.status;
    this.afterLostResponse = details.afterLostAnswer ?? false;
  }
}

interface FailureDetails {
  readonly status?: number;
  readonly afterLostAnswer?: boolean;
  readonly cause?: unknown;
}

interface FailedResponse {
  readonly status: number;
  readonly envelope: unknown;
  readonly request: string;
  /** Number of times that the request was sent. */
  readonly attempt: number;
}

export function failureOf({ status, envelope, request, attempt }: FailedResponse): ApiFailure {
  const reported = entriesOf(envelope).map(textOf).join('; ');
  const hint = hints[status];
  const message = `${request}: HTTP ${status}${reported && `: ${reported}`}${hint === undefined ? '' : `. ${hint}`}`;
  return new ApiFailure(message, { status, afterLostAnswer: attempt > 1 });
}

/** Remedies for HTTP statuses whose responses name no remedy. */
const hints: Readonly<Record<number, string>> = {
  401: 'Check the token: `floodgate login`, FLOODGATE_TOKEN or --token-file',
  403: 'The token is valid, but not for this account or not for this operation',
};

/** Maximum number of errors of one response that a message contains. */
const MAX_SHOWN = 20;

function entriesOf(envelope: unknown): unknown[] {
  const errors =
    typeof envelope === 'object' && envelope !== null && 'errors' in envelope ? envelope.errors : [];
  return Array.isArray(errors) ? errors.slice(0, MAX_SHOWN) : [];
}

function textOf(entry: unknown): string {
  if (typeof entry !== 'object' || entry === null) return String(entry);
  const code = 'code' in entry ? ` (${entry.code})` : '';
  return `${'message' in entry ? entry.message : 'no message'}${code}`;
}
