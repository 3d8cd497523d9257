import type { Trace } from '../../ethereum/traces/index.ts';
import { COLUMNS, rowOf } from './traceRow.ts';

export const CSV_HEADER = COLUMNS.join(',');

/** Returns a CSV row (RFC 4180) without the line break. `traceAddress` is joined with dots. */
export function csvRow(trace: Trace): string {
  const row = { ...rowOf(trace), traceAddress: trace.traceAddress.join('.') };
  return COLUMNS.map((column) => quoted(String(row[column] ?? ''))).join(',');
}

/**
 * Quotes a cell. Adds an apostrophe to a formula, because spreadsheets run it and an error text may contain one. Also
 * adds one to a text that begins with apostrophes and a formula, so that the import can remove it.
 */
function quoted(text: string): string {
  const safe = /^'*[=+@-]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
