import { StoreUnavailable } from '../../../index.ts';

interface Reason extends ErrorOptions {
  /** SQLSTATE code of PostgreSQL; undefined if PostgreSQL did not respond. */
  readonly code?: string | undefined;
}

/** The database is unreachable or accepts no connections. */
export class ConnectionFailed extends StoreUnavailable {
  readonly code: string | undefined;

  constructor(reason: string, { code, ...options }: Reason = {}) {
    super(`The rules database cannot be reached: ${reason}`, options);
    this.code = code;
  }

  /** Whether PostgreSQL rejected the user, the password or the name of the database. */
  get isMisconfigured(): boolean {
    return /^(28|3D000)/.test(this.code ?? '');
  }
}

export class QueryRefused extends StoreUnavailable {
  readonly code: string;

  constructor(code: string, reason: string, options?: ErrorOptions) {
    super(`The rules database returned an error: ${reason} (${code})`, options);
    this.code = code;
  }
}

export const TOO_MANY_CONNECTIONS = '53300';
export const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * SQLSTATE codes that mean that the database was not reached: connection exception, idle timeout, authorization,
 * unknown database, connection limit, shutdown.
 */
const NOT_REACHED = /^(08|25P03|28|3D000|53300|57P)/;
const MAX_REASON_LENGTH = 300;

export function failureOf(error: unknown): ConnectionFailed | QueryRefused {
  if (error instanceof ConnectionFailed || error instanceof QueryRefused) return error;
  const reason = reasonOf(error).slice(0, MAX_REASON_LENGTH);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isAnswer = /^[0-9A-Z]{5}$/.test(code) && error instanceof Error && 'severity' in error;
  if (isAnswer && !NOT_REACHED.test(code)) return new QueryRefused(code, reason, { cause: error });
  // Names of users and databases, which PostgreSQL quotes, come from the URL and must not be logged.
  return new ConnectionFailed(reason.replaceAll(/"[^"]*"/g, '"…"'), { cause: error, code });
}

/** Returns the message of an error. An AggregateError, for several addresses of a host, has only inner messages. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
