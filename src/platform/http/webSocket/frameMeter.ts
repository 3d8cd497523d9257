/** Maximum bytes of a frame header: two bytes, up to eight for the length, four for the mask (RFC 6455, 5.2). */
const MAX_HEADER_BYTES = 14;
const SHORT_LENGTH_BYTES = 2;
const LONG_LENGTH_BYTES = 8;
const MASK_BYTES = 4;
/** First opcode of control frames, which may occur between the frames of a message. */
const FIRST_CONTROL_OPCODE = 8;

/** Counts the bytes of the unfinished message of a WebSocket by parsing the received frame headers. */
export class FrameMeter {
  readonly #header = Buffer.alloc(MAX_HEADER_BYTES);
  #headerBytes = 0;
  #payloadLeft = 0;
  #isControl = false;
  #isFinal = false;
  /** Whether further frames of the current message must follow. */
  #isFragmented = false;
  #bytes = 0;
  #finished = 0;

  /** Number of complete messages and of control frames between messages, since the connection opened. */
  get finished(): number {
    return this.#finished;
  }

  /** Bytes received of the current message or control frame; undefined if none has started. */
  get unfinishedBytes(): number | undefined {
    return this.#isFragmented || this.#headerBytes > 0 ? this.#bytes : undefined;
  }

  read(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#payloadLeft === 0) {
        this.#readHeader(chunk[at] ?? 0);
        at++;
        continue;
      }
      const bytes = Math.min(this.#payloadLeft, chunk.length - at);
      at += bytes;
      this.#bytes += bytes;
      this.#payloadLeft -= bytes;
      if (this.#payloadLeft === 0) this.#frameEnded();
    }
  }

  #readHeader(byte: number): void {
    this.#header[this.#headerBytes++] = byte;
    this.#bytes++;
    if (this.#headerBytes < this.#headerLength) return;
    const [first = 0, second = 0] = this.#header;
    this.#isFinal = (first & 0x80) !== 0;
    this.#isControl = (first & 0x0f) >= FIRST_CONTROL_OPCODE;
    const length = second & 0x7f;
    if (length === 126) this.#payloadLeft = this.#header.readUInt16BE(2);
    else if (length === 127) this.#payloadLeft = Number(this.#header.readBigUInt64BE(2));
    else this.#payloadLeft = length;
    if (this.#payloadLeft === 0) this.#frameEnded();
  }

  get #headerLength(): number {
    if (this.#headerBytes < 2) return 2;
    const second = this.#header[1] ?? 0;
    const length = second & 0x7f;
    const lengthBytes = length === 126 ? SHORT_LENGTH_BYTES : length === 127 ? LONG_LENGTH_BYTES : 0;
    return 2 + lengthBytes + ((second & 0x80) === 0 ? 0 : MASK_BYTES);
  }

  #frameEnded(): void {
    this.#headerBytes = 0;
    if (!this.#isControl) this.#isFragmented = !this.#isFinal;
    if (this.#isFragmented) return;
    this.#finished++;
    this.#bytes = 0;
  }
}
