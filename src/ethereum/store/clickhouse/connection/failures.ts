import { IndexUnavailableError } from '../../../traces/index.ts';

/** ClickHouse or PostgreSQL is unreachable, rejects a statement, or lacks data for a result. */
export class TraceStoreUnavailable extends IndexUnavailableError {
  override readonly name = 'TraceStoreUnavailable';
}

/** A ClickHouse replica lacks rows or has too many of them. A retry may reach another replica. */
export class IncompleteReplica extends TraceStoreUnavailable {}

/** Another instance has the write lease of the index, so this instance must not apply its change. */
export class LeaseHeldElsewhere extends TraceStoreUnavailable {}

/** The URL of the store is invalid. The message does not quote it, because it can contain a password. */
export class BadTraceStoreUrl extends Error {
  override readonly name = 'BadTraceStoreUrl';
}

const MAX_REASON_LENGTH = 300;

/** Returns the message of a database error without its quoted parts, which can contain user names, hosts or data. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError)
    return error.errors.map(reasonOf).join('; ').slice(0, MAX_REASON_LENGTH);
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/"[^"]*"/g, '"…"').slice(0, MAX_REASON_LENGTH);
};
