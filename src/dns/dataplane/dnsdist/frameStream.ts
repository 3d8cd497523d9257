/** Splits a Frame Streams connection (dnstap.info) into frames. Memory is bounded by the maximum frame size. */

const LENGTH_BYTES = 4;
/** Size of the two length fields before a control frame: a zero, then the length of the frame. */
const CONTROL_LENGTHS_BYTES = 8;
/** Maximum size of a frame, which contains one DNS message with addresses. A larger frame cannot be dnstap. */
const MAX_FRAME_BYTES = 128 * 1024;

export interface FrameListener {
  onFrame(frame: Buffer): void;
  /** Receives a control frame without its length fields. */
  onControl(frame: Buffer): void;
}

export class FrameStream {
  readonly #listener: FrameListener;
  #pending: Buffer = Buffer.alloc(0);

  constructor(listener: FrameListener) {
    this.#listener = listener;
  }

  /** Returns false if a frame exceeds MAX_FRAME_BYTES; the caller must then close the connection. */
  push(chunk: Buffer): boolean {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    let at = 0;
    for (;;) {
      const isControl = at + LENGTH_BYTES <= bytes.length && bytes.readUInt32BE(at) === 0;
      const start = at + (isControl ? CONTROL_LENGTHS_BYTES : LENGTH_BYTES);
      if (start > bytes.length) break;
      const length = bytes.readUInt32BE(start - LENGTH_BYTES);
      if (length > MAX_FRAME_BYTES) return false;
      const end = start + length;
      if (end > bytes.length) break;
      if (isControl) this.#listener.onControl(bytes.subarray(start, end));
      else this.#listener.onFrame(bytes.subarray(start, end));
      at = end;
    }
    // The rest is copied, because a view would keep the whole received chunk in memory.
    this.#pending = Buffer.from(bytes.subarray(at));
    return true;
  }
}
