/** A request that did not succeed: what the server said, or why there was no answer. */
export class ApiFailure extends Error {
  /** Undefined where no answer came. */
  readonly status: number | undefined;
  /** An earlier attempt was sent whose outcome is not known: the change may have been made by it. */
  readonly afterLostAnswer: boolean;

  constructor(message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'ApiFailure';
    this.status = details.status;
    this.afterLostAnswer = details.afterLostAnswer ?? false;
  }
}

interface FailureDetails {
  readonly status?: number;
  readonly afterLostAnswer?: boolean;
  readonly cause?: unknown;
}

interface FailedAnswer {
  readonly status: number;
  readonly envelope: unknown;
  /** What was asked, for messages. */
  readonly request: string;
  /** Which attempt it answers, from 1. */
  readonly attempt: number;
}

/** The failure that an answer tells of. */
export function failureOf({ status, envelope, request, attempt }: FailedAnswer): ApiFailure {
  const told = entriesOf(envelope).map(textOf).join('; ');
  const hint = hints[status];
  const message = `${request}: HTTP ${status}${told && `: ${told}`}${hint === undefined ? '' : `. ${hint}`}`;
  return new ApiFailure(message, { status, afterLostAnswer: attempt > 1 });
}

/** What to do about a status, where it is not said by the answer. */
const hints: Readonly<Record<number, string>> = {
  401: 'Check the token: FLOODGATE_TOKEN or --token-file',
  403: 'The token is valid, but not for this account or not for this operation',
};

/** Most faults of one answer that are shown. */
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
