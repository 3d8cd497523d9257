/** The shapes of JSON in a node's answer, checked. */
import type { Place } from './place.ts';
import { TraceFormatError } from './traceFormatError.ts';

/** An object of a node's answer, nothing of which has been checked yet. */
export type Members = Readonly<Record<string, unknown>>;

/** @throws TraceFormatError unless it is an object. */
export function asObject(value: unknown, place: Place, member: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TraceFormatError(place, member, { expected: 'an object', got: value });
  return value as Members; // checked: a JSON object
}

/** A reader of arrays of at most so many. It throws TraceFormatError for anything else. */
export function listUpTo(max: number) {
  return (value: unknown, place: Place, member: string): readonly unknown[] => {
    if (!Array.isArray(value) || value.length > max)
      throw new TraceFormatError(place, member, { expected: `an array of at most ${max}`, got: value });
    return value;
  };
}

/** A reader of JSON numbers without fraction, from 0 to that. It throws TraceFormatError for anything else. */
export function countUpTo(max: number) {
  return (value: unknown, place: Place, member: string): number => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max)
      throw new TraceFormatError(place, member, { expected: `a whole number from 0 to ${max}`, got: value });
    return value;
  };
}
