import type { Writable } from 'node:stream';

/** Maximum bytes of log lines that wait for a slow reader. About 10,000 lines. */
const MAX_UNREAD_BYTES = 2 * 1024 * 1024;

/** Called with the number of dropped lines as soon as lines can be written again. */
export type DroppedLinesListener = (lines: number) => void;

/**
 * Writes log lines to a pipe without blocking, so that a reader that stalls or closes the pipe does not stop the
 * server. Lines that exceed the buffer are dropped. The number of dropped lines is reported later.
 */
export class LogWriter {
  readonly #stream: Writable;
  readonly #maxBytes: number;
  #tellDropped: DroppedLinesListener = () => undefined;
  #dropped = 0;
  #unreported = 0;

  constructor(stream: Writable, maxBytes = MAX_UNREAD_BYTES) {
    this.#stream = stream;
    this.#maxBytes = maxBytes;
    // A closed pipe must not end the process.
    stream.on('error', () => undefined);
    stream.on('drain', () => this.#tell());
  }

  get dropped(): number {
    return this.#dropped;
  }

  onDropped(reportDropped: DroppedLinesListener): void {
    this.#tellDropped = reportDropped;
  }

  write(line: string): void {
    this.#tell();
    if (this.#hasCapacity()) {
      this.#stream.write(line);
      return;
    }
    this.#dropped++;
    this.#unreported++;
  }

  #hasCapacity(): boolean {
    return this.#stream.writable && this.#stream.writableLength < this.#maxBytes;
  }

  #tell(): void {
    if (this.#unreported === 0 || !this.#hasCapacity()) return;
    const lines = this.#unreported;
    this.#unreported = 0;
    this.#tellDropped(lines);
  }
}
