/** Splits the bytes of a Frame Streams connection (dnstap.info) into frames. Buffers at most one frame. */

const LENGTH_BYTES = 4;
/** Size of the two numbers before a control frame: a zero, and the length of the frame. */
const CONTROL_LENGTHS_BYTES = 8;
/** Maximum size of a frame. A frame of dnstap contains one DNS message with addresses, which is always smaller. */
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

  /** Returns false if a frame exceeds MAX_FRAME_BYTES. The caller must then close the connection. */
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
    // The bytes of the incomplete frame are copied, because a view of them would keep the whole chunk in memory.
    this.#pending = Buffer.from(bytes.subarray(at));
    return true;
  }
}
