/** Functions that validate the four kinds of hex text in a node's response, and return the canonical form. */
import type { Address, Data, Hash, Quantity } from '../../index.ts';
import { isLowerHex } from './isLowerHex.ts';
import type { ParseContext } from './parseContext.ts';
import { TraceFormatError } from './traceFormatError.ts';

const ADDRESS_CHARS = 42;
const HASH_CHARS = 66;
/** `0x` and the hex digits of 256 bits. */
const MAX_QUANTITY_CHARS = 66;
/** Maximum number of bytes of data. In the EVM, 16 MiB of memory cost 500 million gas, far above a block's limit. */
const MAX_DATA_BYTES = 16 * 1024 * 1024;
const MAX_DATA_CHARS = 2 + 2 * MAX_DATA_BYTES;

/** Data from this length on is first compared with the data validated before, which is faster than validation. */
const LONG_CHARS = 1_024;

const ZERO_DIGIT = 0x30;

/** Returns an address in lower case. @throws TraceFormatError unless the value is 20 bytes as hex digits. */
export function readAddress(value: unknown, place: ParseContext, member: string): Address {
  const text = lowerHex(value, ADDRESS_CHARS, ADDRESS_CHARS);
  if (text === undefined)
    throw new TraceFormatError(place, member, { expected: '20 bytes as 0x and 40 hex digits', got: value });
  return text as Address; // validated: 0x and 40 lower-case hex digits
}

/** Returns a hash in lower case. @throws TraceFormatError unless the value is 32 bytes as hex digits. */
export function readHash(value: unknown, place: ParseContext, member: string): Hash {
  const text = lowerHex(value, HASH_CHARS, HASH_CHARS);
  if (text === undefined)
    throw new TraceFormatError(place, member, { expected: '32 bytes as 0x and 64 hex digits', got: value });
  return text as Hash; // validated: 0x and 64 lower-case hex digits
}

/** Returns a quantity without leading zeros. @throws TraceFormatError unless it is hex of at most 256 bits. */
export function readQuantity(value: unknown, place: ParseContext, member: string): Quantity {
  const text = lowerHex(value, 3, MAX_QUANTITY_CHARS);
  if (text === undefined)
    throw new TraceFormatError(place, member, {
      expected: 'a number as 0x and at most 64 hex digits',
      got: value,
    });
  const isCanonical = text.length === 3 || text.charCodeAt(2) !== ZERO_DIGIT;
  // The cast: hex digits without a leading zero.
  return (isCanonical ? text : text.replace(/^0x0+(?=.)/, '0x')) as Quantity;
}

/** Returns data; `0x` if it is absent, as in geth. @throws TraceFormatError unless it is hex text of even length. */
export function readData(value: unknown, place: ParseContext, member: string): Data {
  if (value === '0x' || value === undefined || value === null) return '0x' as Data; // empty Data
  if (value === place.checked) return place.checked;
  const text = lowerHex(value, 2, MAX_DATA_CHARS);
  if (text === undefined || text.length % 2 !== 0)
    throw new TraceFormatError(place, member, {
      expected: `bytes as 0x and pairs of hex digits, at most ${MAX_DATA_BYTES} bytes`,
      got: value,
    });
  const data = text as Data; // validated: 0x and pairs of lower-case hex digits
  if (data.length >= LONG_CHARS) place.checked = data;
  return data;
}

/** Returns a value in lower case, or undefined if it is not hex text of a permitted length. */
function lowerHex(value: unknown, minChars: number, maxChars: number): string | undefined {
  if (typeof value !== 'string' || value.length < minChars || value.length > maxChars) return undefined;
  if (isLowerHex(value)) return value;
  // The value may be an address with a checksum. No non-ASCII character becomes a hex digit in lower case.
  const lower = value.toLowerCase();
  return lower.length === value.length && isLowerHex(lower) ? lower : undefined;
}
