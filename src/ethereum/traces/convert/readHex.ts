/** The four kinds of hex text in a node's answer, read into their one canonical form or refused. */
import type { Address, Data, Hash, Quantity } from '../index.ts';
import { isLowerHex } from './isLowerHex.ts';
import type { Place } from './place.ts';
import { TraceFormatError } from './traceFormatError.ts';

const ADDRESS_CHARS = 42;
const HASH_CHARS = 66;
/** 256 bits. */
const MAX_QUANTITY_CHARS = 66;
/**
 * Longest input, output or code, in bytes. Memory of 16 MiB costs an EVM frame more than 500 million gas, ten times
 * what a mainnet block has: a longer one is not a trace but an attack on our memory.
 */
const MAX_DATA_BYTES = 16 * 1024 * 1024;
const MAX_DATA_CHARS = 2 + 2 * MAX_DATA_BYTES;

const ZERO_DIGIT = 0x30;

/** @throws TraceFormatError unless it is 20 bytes of hex, in any case. */
export function readAddress(value: unknown, place: Place, member: string): Address {
  const text = lowerHex(value, ADDRESS_CHARS, ADDRESS_CHARS);
  if (text === undefined)
    throw new TraceFormatError(place, member, { expected: '20 bytes as 0x and 40 hex digits', got: value });
  return text as Address; // checked: 0x and 40 lower-case hex digits
}

/** @throws TraceFormatError unless it is 32 bytes of hex, in any case. */
export function readHash(value: unknown, place: Place, member: string): Hash {
  const text = lowerHex(value, HASH_CHARS, HASH_CHARS);
  if (text === undefined)
    throw new TraceFormatError(place, member, { expected: '32 bytes as 0x and 64 hex digits', got: value });
  return text as Hash; // checked: 0x and 64 lower-case hex digits
}

/** Leading zeros are taken off. @throws TraceFormatError unless it is a hex number of at most 256 bits. */
export function readQuantity(value: unknown, place: Place, member: string): Quantity {
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

/** An absent member is no bytes: geth leaves out what is empty. @throws TraceFormatError unless it is whole bytes of hex. */
export function readData(value: unknown, place: Place, member: string): Data {
  if (value === '0x' || value === undefined || value === null) return '0x' as Data; // the empty Data
  const text = lowerHex(value, 2, MAX_DATA_CHARS);
  if (text === undefined || text.length % 2 !== 0)
    throw new TraceFormatError(place, member, {
      expected: `bytes as 0x and pairs of hex digits, at most ${MAX_DATA_BYTES} bytes`,
      got: value,
    });
  return text as Data; // checked: 0x and pairs of lower-case hex digits
}

/** The text in lower case where it is hex of that length, else undefined. */
function lowerHex(value: unknown, minChars: number, maxChars: number): string | undefined {
  if (typeof value !== 'string' || value.length < minChars || value.length > maxChars) return undefined;
  if (isLowerHex(value)) return value;
  // Checksummed addresses and the like. No character outside ASCII has a hex digit as its lower case.
  const lower = value.toLowerCase();
  return lower.length === value.length && isLowerHex(lower) ? lower : undefined;
}
