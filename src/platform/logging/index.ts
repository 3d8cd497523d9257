// What rooms that write log lines need of a logger. pino's has it, and so has a test that keeps the lines.

/** One event a line: a message that stays the same, and fields with what differs. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Says nothing. */
export const QUIET: Log = { info() {}, warn() {}, error() {} };
