import type { Trace } from '../ethereum/traces/index.ts';
import { COLUMNS, rowOf } from './traceRow.ts';

export const CSV_HEADER = COLUMNS.join(',');

/** A trace as a row of CSV (RFC 4180), without the line's end; `traceAddress` as numbers joined by dots. */
export function csvRow(trace: Trace): string {
  const row = { ...rowOf(trace), traceAddress: trace.traceAddress.join('.') };
  return COLUMNS.map((column) => quoted(String(row[column] ?? ''))).join(',');
}

/** An error's text may hold anything; a cell that begins like a formula must not be one. */
function quoted(text: string): string {
  const safe = /^[=+@-]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
