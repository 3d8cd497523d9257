import { JsonWriter } from './jsonWriter.ts';

/** Writers that are kept for the next answer: enough for the answers that are being sent at one time. */
const MAX_KEPT = 16;

/**
 * Lends writers, the one that came back last first: its memory is the likeliest to be in the processor's cache. An answer is
 * sent from where it was written, and not copied.
 */
export class JsonWriterPool {
  readonly #free: JsonWriter[] = [];

  take(): JsonWriter {
    return this.#free.pop() ?? new JsonWriter();
  }

  giveBack(writer: JsonWriter): void {
    writer.reset();
    if (this.#free.length < MAX_KEPT) this.#free.push(writer);
  }
}
