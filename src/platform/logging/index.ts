// Minimal logger interface, implemented by pino and by tests that collect lines.

export { RareLog, type WarningLog } from './rareLog.ts';

/** A log with one event per line: a constant message, and fields with the variable parts. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const QUIET: Log = { info() {}, warn() {}, error() {} };
