/** Functions that read the cells of a row. */
import type { Hash } from '../traces/index.ts';
import type { Row } from './format.ts';

/** Maximum number of characters of a cell that an error quotes. */
const MAX_QUOTED_CHARS = 60;
/** The largest number of 256 bits has this number of decimal digits. */
const MAX_DECIMAL_DIGITS = 78;

/** Thrown if a cell is invalid. */
export class CellError extends Error {
  constructor(column: string, expected: string, got: string) {
    super(`${column} must be ${expected}, it is ${got}`);
  }
}

/** Bytes of a 256-bit number in a column of bytes, as cryo writes them. */
const NUMBER_BYTES = 32;

/**
 * Returns a cell as text; bytes as hex digits. Returns undefined if the cell is absent or empty. Throws CellError for a
 * list or an object, which JSON and Parquet may contain, and for a number that may be rounded.
 */
export function textOf(row: Row, column: string): string | undefined {
  const value = row[column];
  if (value === undefined || value === null || value === '') return undefined;
  if (value instanceof Uint8Array)
    return `0x${Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex')}`;
  if (typeof value === 'object') throw new CellError(column, 'text or a number', quoted(value));
  // Programs write numbers of 128 bits as doubles or decimals, which are read as doubles.
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    throw new CellError(
      column,
      'text or an integer: larger numbers of other types are rounded',
      quoted(value),
    );
  return String(value);
}

/** Returns a number as hex digits. Hex digits are returned unchanged. Throws CellError unless the cell is a number. */
export function quantityOf(row: Row, column: string): string | undefined {
  const text = textOf(row, column);
  const value = row[column];
  // Other lengths are digits of a text column whose type was lost.
  if (value instanceof Uint8Array && value.length !== NUMBER_BYTES)
    throw new CellError(column, `a decimal number or ${NUMBER_BYTES} bytes`, `${value.length} bytes`);
  if (text === undefined || text.startsWith('0x')) return text;
  return `0x${decimal(column, text).toString(16)}`;
}

/** Throws CellError unless the cell is a number of at most 256 bits. */
export function bigintOf(row: Row, column: string): bigint | undefined {
  const text = textOf(row, column);
  return text === undefined ? undefined : decimal(column, text);
}

/** Throws CellError unless the cell is a number of at most `max`. */
export function numberOf(row: Row, column: string, max = Number.MAX_SAFE_INTEGER): number {
  const text = textOf(row, column);
  const number = Number(text === undefined ? Number.NaN : decimal(column, text));
  if (number <= max) return number;
  throw new CellError(column, `a decimal number of at most ${max}`, quoted(text));
}

export const optionalNumberOf = (row: Row, column: string, max?: number): number | undefined =>
  textOf(row, column) === undefined ? undefined : numberOf(row, column, max);

/** Throws CellError unless the cell is a hash: 32 bytes, or 64 hex digits. */
export function hashOf(row: Row, column: string): Hash {
  const text = textOf(row, column);
  if (text !== undefined && /^0x[0-9a-f]{64}$/i.test(text)) return text.toLowerCase() as Hash; // matches the pattern
  throw new CellError(column, '32 bytes as 0x and 64 hex digits', quoted(text));
}

/** Returns the numbers of a trace address, which are a list, or text with a separator. */
export function pathOf(row: Row, column: string, separator: string): readonly unknown[] {
  const value = row[column];
  if (Array.isArray(value)) return value;
  const steps = textOf(row, column)?.split(separator) ?? [];
  for (const step of steps)
    if (!/^\d{1,7}$/.test(step))
      throw new CellError(column, `numbers joined by "${separator}"`, quoted(textOf(row, column)));
  return steps.map(Number);
}

export function quoted(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'empty';
  // A deep list cannot be converted to text, because the conversion calls itself for each level.
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  const text = String(value);
  const cut = text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}…` : text;
  return `"${printable(cut)}"`;
}

/** Replaces the characters of a file that a terminal may interpret. */
export const printable = (text: string): string => text.replace(/[^\x20-\x7e…]/g, '?');

function decimal(column: string, text: string): bigint {
  if (text.length > MAX_DECIMAL_DIGITS || !/^\d+$/.test(text))
    throw new CellError(column, 'a decimal number of at most 256 bits', quoted(text));
  return BigInt(text);
}
