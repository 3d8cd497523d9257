import { JsonWriter } from './jsonWriter.ts';

/**
 * Memory of the writers that are kept for the next answer: as many as answers are being sent at one time, which is one for each
 * connection that has asked within a turn of the event loop.
 */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/**
 * Lends writers, the one that came back last first: its memory is the likeliest to be in the processor's cache. An answer is
 * sent from where it was written, and not copied.
 */
export class JsonWriterPool {
  readonly #free: JsonWriter[] = [];
  #keptBytes = 0;

  take(): JsonWriter {
    const writer = this.#free.pop();
    if (writer === undefined) return new JsonWriter();
    this.#keptBytes -= writer.heldBytes;
    return writer;
  }

  giveBack(writer: JsonWriter): void {
    writer.reset();
    if (this.#keptBytes + writer.heldBytes > MAX_KEPT_BYTES) return;
    this.#keptBytes += writer.heldBytes;
    this.#free.push(writer);
  }
}
