/** A request that did not succeed: what the server said, or why there was no answer. */
export class ApiFailure extends Error {
  /** Undefined where no answer came. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ApiFailure';
    this.status = status;
  }
}

/** The failure that an answer tells of. */
export function failureOf(status: number, envelope: unknown, request: string): ApiFailure {
  const told = entriesOf(envelope).map(textOf).join('; ');
  const hint = hints[status];
  const message = `${request}: HTTP ${status}${told && `: ${told}`}${hint === undefined ? '' : `. ${hint}`}`;
  return new ApiFailure(message, status);
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
