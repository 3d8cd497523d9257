import { StoreUnavailable } from '../../index.ts';

interface Reason extends ErrorOptions {
  /** PostgreSQL's own, where it has answered. */
  readonly code?: string | undefined;
}

/** The database cannot be reached, or takes no connections. */
export class ConnectionFailed extends StoreUnavailable {
  readonly code: string | undefined;

  constructor(reason: string, { code, ...options }: Reason = {}) {
    super(`The rules database cannot be reached: ${reason}`, options);
    this.code = code;
  }
}

/** The database has answered, with an error. */
export class QueryRefused extends StoreUnavailable {
  readonly code: string;

  constructor(code: string, reason: string, options?: ErrorOptions) {
    super(`The rules database refuses: ${reason} (${code})`, options);
    this.code = code;
  }
}

export const TOO_MANY_CONNECTIONS = '53300';

/** Connection, a transaction that was idle for too long, authorization, no such database, too many connections, shut down or starting. */
const NOT_REACHED = /^(08|25P03|28|3D000|53300|57P)/;
const MAX_REASON_LENGTH = 300;

/** What failed, told apart by whether the database was reached. */
export function failureOf(error: unknown): ConnectionFailed | QueryRefused {
  if (error instanceof ConnectionFailed || error instanceof QueryRefused) return error;
  const reason = reasonOf(error).slice(0, MAX_REASON_LENGTH);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isAnswer = /^[0-9A-Z]{5}$/.test(code) && error instanceof Error && 'severity' in error;
  if (isAnswer && !NOT_REACHED.test(code)) return new QueryRefused(code, reason, { cause: error });
  // Names of users and databases are of the URL, and not for a log.
  return new ConnectionFailed(reason.replaceAll(/"[^"]*"/g, '"…"'), { cause: error, code });
}

/** Several addresses that were tried are one error with many, and no message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
