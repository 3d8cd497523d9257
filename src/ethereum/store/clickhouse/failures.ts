import { IndexUnavailableError } from '../../traces/index.ts';

/** ClickHouse or PostgreSQL cannot be reached, refuses, or has not all that an answer needs. */
export class TraceStoreUnavailable extends IndexUnavailableError {
  override readonly name = 'TraceStoreUnavailable';
}

/** A replica has not all rows of the blocks that were asked for, or more of them: asked again, another one may. */
export class IncompleteReplica extends TraceStoreUnavailable {}

/** Another instance writes the index: what this one would change, it does not. */
export class LeaseHeldElsewhere extends TraceStoreUnavailable {}

/** The URL of the store is not as it should be; the message has nothing of it, as there may be a password in it. */
export class BadTraceStoreUrl extends Error {
  override readonly name = 'BadTraceStoreUrl';
}

const MAX_REASON_LENGTH = 300;

/** What a database says of itself may quote what it was asked; it is cut, and has no user or host. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError)
    return error.errors.map(reasonOf).join('; ').slice(0, MAX_REASON_LENGTH);
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/"[^"]*"/g, '"…"').slice(0, MAX_REASON_LENGTH);
};
