/** Functions that validate the JSON types in a node's response. */
import type { ParseContext } from './parseContext.ts';
import { TraceFormatError } from './traceFormatError.ts';

/** Object in a node's response, whose members are not validated yet. */
export type Members = Readonly<Record<string, unknown>>;

/** Returns the value as an object. @throws TraceFormatError unless it is one. */
export function asObject(value: unknown, place: ParseContext, member: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TraceFormatError(place, member, { expected: 'an object', got: value });
  return value as Members; // validated: a JSON object
}

/** Returns a function that throws TraceFormatError unless a value is an array of at most `max` elements. */
export function listUpTo(max: number) {
  return (value: unknown, place: ParseContext, member: string): readonly unknown[] => {
    if (!Array.isArray(value) || value.length > max)
      throw new TraceFormatError(place, member, { expected: `an array of at most ${max}`, got: value });
    return value;
  };
}

/** Returns a function that throws TraceFormatError unless a value is an integer from 0 to `max`. */
export function countUpTo(max: number) {
  return (value: unknown, place: ParseContext, member: string): number => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max)
      throw new TraceFormatError(place, member, { expected: `a whole number from 0 to ${max}`, got: value });
    return value;
  };
}
