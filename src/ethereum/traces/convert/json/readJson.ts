/** Validates the JSON types in a node's response. */
import type { ParseContext } from './parseContext.ts';
import { TraceFormatError } from './traceFormatError.ts';

/** Object from a node's response with unvalidated members. */
export type Members = Readonly<Record<string, unknown>>;

/** @throws TraceFormatError unless the value is an object. */
export function asObject(value: unknown, place: ParseContext, member: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TraceFormatError(place, member, { expected: 'an object', got: value });
  return value as Members; // validated: a JSON object
}

/** Returns a validator of arrays with at most `max` elements. It throws TraceFormatError for other values. */
export function listUpTo(max: number) {
  return (value: unknown, place: ParseContext, member: string): readonly unknown[] => {
    if (!Array.isArray(value) || value.length > max)
      throw new TraceFormatError(place, member, { expected: `an array of at most ${max}`, got: value });
    return value;
  };
}

/** Returns a validator of integers from 0 to `max`. It throws TraceFormatError for other values. */
export function countUpTo(max: number) {
  return (value: unknown, place: ParseContext, member: string): number => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max)
      throw new TraceFormatError(place, member, { expected: `a whole number from 0 to ${max}`, got: value });
    return value;
  };
}
