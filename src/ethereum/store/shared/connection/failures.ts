import { IndexUnavailableError } from '../../../traces/index.ts';

/** ClickHouse is unreachable, rejects a statement, or lacks data for a result. */
export class TraceStoreUnavailable extends IndexUnavailableError {
  override readonly name: string = 'TraceStoreUnavailable';
}

/** The rows on a host do not prove a result. Another host, or a later read, may have all rows. */
export class UnprovenRead extends TraceStoreUnavailable {
  override readonly name = 'UnprovenRead';
  override readonly isUnproven = true;
  /** Numbers of the blocks whose rows are wrong or missing. Empty if that is not known. */
  readonly blocks: readonly number[];

  constructor(message: string, blocks: readonly number[] = []) {
    super(message);
    this.blocks = blocks;
  }
}

/** A table is missing, or was created by another release. */
export class WrongTables extends TraceStoreUnavailable {}

/** The URL or the tables of the store are wrong. The message does not quote the URL, which can contain a password. */
export class BadTraceStore extends Error {
  override readonly name = 'BadTraceStore';
}

const MAX_REASON_LENGTH = 300;

/** Returns the message of a database error without its quoted parts, which can contain user names, hosts or data. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError)
    return error.errors.map(reasonOf).join('; ').slice(0, MAX_REASON_LENGTH);
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/"[^"]*"/g, '"…"').slice(0, MAX_REASON_LENGTH);
};
