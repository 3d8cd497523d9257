import { AnswerTooLargeError, JsonWriter } from '../../../traces/index.ts';
import type { TracePlace } from '../tables/position.ts';
import type { Chunks } from './chunks.ts';

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
const COMMA = Buffer.from(',');

interface TracesToWrite {
  readonly places: readonly TracePlace[];
  readonly chunks: Chunks;
  readonly maxBytes: number;
}

/** Returns traces as a JSON array. Throws AnswerTooLargeError if the array exceeds `maxBytes`. */
export function tracesAsJson(answer: TracesToWrite, json?: JsonWriter): Buffer {
  const into = json ?? new JsonWriter();
  into.reset();
  if (appendTraces(into, answer) < answer.places.length) throw new AnswerTooLargeError(answer.maxBytes);
  return json === undefined ? into.copy() : into.written();
}

/**
 * Appends to `json` an array with as many of the traces as fit into `maxBytes`. Returns the number of these traces.
 */
export function appendTraces(json: JsonWriter, { places, chunks, maxBytes }: TracesToWrite): number {
  json.verbatim(OPEN, 0, OPEN.length);
  let taken = 0;
  for (const place of places) {
    const before = json.length;
    if (taken > 0) json.verbatim(COMMA, 0, COMMA.length);
    chunks.write(json, place);
    if (json.textBytes + CLOSE.length > maxBytes) {
      json.length = before;
      break;
    }
    taken++;
  }
  json.verbatim(CLOSE, 0, CLOSE.length);
  return taken;
}

/** Returns a trace as JSON. Throws AnswerTooLargeError if it exceeds `maxBytes`. */
export function traceAsJson(place: TracePlace, chunks: Chunks, maxBytes: number): Buffer {
  const json = new JsonWriter();
  chunks.write(json, place);
  if (json.textBytes > maxBytes) throw new AnswerTooLargeError(maxBytes);
  return json.copy();
}
