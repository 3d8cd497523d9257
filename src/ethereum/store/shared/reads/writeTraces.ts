import { AnswerTooLargeError, JsonWriter, TRACES_PER_CHUNK, writeTrace } from '../../../traces/index.ts';
import type { TracePosition } from '../tables/position.ts';
import type { Chunks } from './chunks.ts';

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
const COMMA = Buffer.from(',');

interface TracesToWrite {
  readonly places: readonly Omit<TracePosition, 'write'>[];
  readonly chunks: Chunks;
  readonly maxBytes: number;
  readonly json?: JsonWriter | undefined;
}

/** Returns traces as a JSON array. Throws AnswerTooLargeError if the array exceeds `maxBytes`. */
export function tracesAsJson({ json, ...answer }: TracesToWrite): Buffer {
  const into = json ?? new JsonWriter();
  into.reset();
  const { places, maxBytes } = answer;
  if (appendTraces(into, answer) < places.length) throw new AnswerTooLargeError(maxBytes);
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
    writeTrace(
      json,
      chunks.containing(place),
      place.traceIndex % TRACES_PER_CHUNK,
      place.number,
      chunks.readData,
    );
    if (json.textBytes + CLOSE.length > maxBytes) {
      json.length = before;
      break;
    }
    taken++;
  }
  json.verbatim(CLOSE, 0, CLOSE.length);
  return taken;
}
