/** Cuts a connection of Frame Streams (dnstap.info) into its frames, in a memory no larger than the largest. */

const LENGTH_BYTES = 4;
/** A length of zero says that a control frame comes, whose length stands behind. */
const CONTROL_LENGTHS_BYTES = 8;
/** A DNS message and its addresses; larger frames are not dnstap. */
const MAX_FRAME_BYTES = 128 * 1024;

/** Hear frames as they come whole. */
export interface FrameListener {
  onFrame(frame: Buffer): void;
  /** A control frame, without its lengths. */
  onControl(frame: Buffer): void;
}

export class FrameStream {
  readonly #listener: FrameListener;
  /** The part of a frame that has come. */
  #pending: Buffer = Buffer.alloc(0);

  constructor(listener: FrameListener) {
    this.#listener = listener;
  }

  /** False where a frame is longer than any can be: what comes behind it is not read. */
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
    // A copy, as a view would hold on to all of the chunk.
    this.#pending = Buffer.from(bytes.subarray(at));
    return true;
  }
}
