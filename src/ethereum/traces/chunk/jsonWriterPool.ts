import { JsonWriter } from './jsonWriter.ts';

/** Maximum total size of the buffers of free writers. Each response that is being sent uses one writer. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** Pool of free writers. The last released writer is reused first, because its memory is likely in the CPU cache. */
export class JsonWriterPool {
  readonly #free: JsonWriter[] = [];
  #keptBytes = 0;

  acquire(): JsonWriter {
    const writer = this.#free.pop();
    if (writer === undefined) return new JsonWriter();
    this.#keptBytes -= writer.capacityBytes;
    return writer;
  }

  release(writer: JsonWriter): void {
    writer.reset();
    if (this.#keptBytes + writer.capacityBytes > MAX_KEPT_BYTES) return;
    this.#keptBytes += writer.capacityBytes;
    this.#free.push(writer);
  }
}
