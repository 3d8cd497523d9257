import {
  AnswerTooLargeError,
  findFrame,
  JsonWriter,
  TRACES_PER_CHUNK,
  writeTrace,
} from '../../../traces/index.ts';
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

/** Where a frame is: its block, the traces to search, and its position in the transaction. */
interface FrameToWrite {
  readonly number: number;
  readonly range: { readonly first: number; readonly end: number };
  readonly place: { readonly transactionPosition: number; readonly traceAddress: readonly number[] };
  readonly chunks: Chunks;
  readonly maxBytes: number;
}

/** Returns a frame as JSON; null if there is none. Throws AnswerTooLargeError if it exceeds `maxBytes`. */
export function frameAsJson({ number, range, place, chunks, maxBytes }: FrameToWrite): Buffer | null {
  const chunkAt = (traceIndex: number): Buffer => chunks.containing({ number, traceIndex });
  const index = findFrame(chunkAt, range, place);
  if (index === undefined) return null;
  const json = new JsonWriter();
  writeTrace(json, chunkAt(index), index % TRACES_PER_CHUNK, number, chunks.readData);
  if (json.textBytes > maxBytes) throw new AnswerTooLargeError(maxBytes);
  return json.copy();
}
