import { AnswerTooLargeError, JsonWriter, TRACES_PER_CHUNK, writeTrace } from '../../traces/index.ts';
import type { Chunks } from './chunks.ts';
import type { Place } from './place.ts';

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
const COMMA = Buffer.from(',');

interface Answer {
  readonly places: readonly Place[];
  readonly chunks: Chunks;
  readonly maxBytes: number;
  /** Left out: bytes of their own. */
  readonly json?: JsonWriter | undefined;
}

/** Traces as the bytes of a JSON array. Throws AnswerTooLargeError past `maxBytes`. */
export function arrayOf({ json, ...answer }: Answer): Buffer {
  const into = json ?? new JsonWriter();
  into.reset();
  const { places, maxBytes } = answer;
  if (writeBehind(into, answer) < places.length) throw new AnswerTooLargeError(maxBytes);
  return json === undefined ? into.copy() : into.written();
}

/** Writes as many traces as there is room for as a JSON array behind what stands in `json`, and gives how many. */
export function writeBehind(json: JsonWriter, { places, chunks, maxBytes }: Answer): number {
  json.verbatim(OPEN, 0, OPEN.length);
  let taken = 0;
  for (const place of places) {
    const before = json.length;
    if (taken > 0) json.verbatim(COMMA, 0, COMMA.length);
    writeTrace(json, chunks.with(place), place.traceIndex % TRACES_PER_CHUNK, place.number);
    if (json.textBytes + CLOSE.length > maxBytes) {
      json.length = before;
      break;
    }
    taken++;
  }
  json.verbatim(CLOSE, 0, CLOSE.length);
  return taken;
}
