/** The shapes of JSON in a node's answer, checked. */
import type { Place } from './place.ts';
import { TraceFormatError } from './traceFormatError.ts';

/** An object of a node's answer, nothing of which has been checked yet. */
export type Members = Readonly<Record<string, unknown>>;

/** @throws TraceFormatError unless it is an object. */
export function asObject(value: unknown, place: Place, member: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TraceFormatError(place, member, 'an object', value);
  return value as Members; // checked: a JSON object
}

/** @throws TraceFormatError unless it is an array of at most so many. */
export function asList(value: unknown, max: number, place: Place, member: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length > max)
    throw new TraceFormatError(place, member, `an array of at most ${max}`, value);
  return value;
}

/** @throws TraceFormatError unless it is a JSON number without fraction, from 0 to that. */
export function asCount(value: unknown, max: number, place: Place, member: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max)
    throw new TraceFormatError(place, member, `a whole number from 0 to ${max}`, value);
  return value;
}
