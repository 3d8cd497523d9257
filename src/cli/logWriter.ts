import type { Writable } from 'node:stream';

/** What is kept for a reader that does not read: some ten thousand lines. */
const MAX_UNREAD_BYTES = 2 * 1024 * 1024;

/** Told once lines can be written again after some were dropped. */
export type TellDropped = (lines: number) => void;

/**
 * Writes log lines to a pipe without ever waiting for its reader: one that stops reading, or is gone, must not stop the server.
 * What does not fit is dropped, counted, and told as soon as there is somebody to tell.
 */
export class LogWriter {
  readonly #stream: Writable;
  readonly #maxBytes: number;
  #tellDropped: TellDropped = () => undefined;
  #dropped = 0;
  #untold = 0;

  constructor(stream: Writable, maxBytes = MAX_UNREAD_BYTES) {
    this.#stream = stream;
    this.#maxBytes = maxBytes;
    // A reader that is gone is no reason to end.
    stream.on('error', () => undefined);
    stream.on('drain', () => this.#tell());
  }

  /** Lines that were dropped since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  onDropped(tell: TellDropped): void {
    this.#tellDropped = tell;
  }

  write(line: string): void {
    this.#tell();
    if (this.#hasRoom()) {
      this.#stream.write(line);
      return;
    }
    this.#dropped++;
    this.#untold++;
  }

  #hasRoom(): boolean {
    return this.#stream.writable && this.#stream.writableLength < this.#maxBytes;
  }

  #tell(): void {
    if (this.#untold === 0 || !this.#hasRoom()) return;
    const lines = this.#untold;
    this.#untold = 0;
    this.#tellDropped(lines);
  }
}
