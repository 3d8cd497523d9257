import { ServerResponse } from 'node:http';
import { connectionOf } from '../connection.ts';
import { readerOf } from './readers.ts';

type Chunk = string | Uint8Array;
type Sent = (error?: Error | null) => void;

/** A response whose memory is counted until its last byte was sent or its client has disconnected. */
export class TrackedResponse extends ServerResponse {
  /** Whether the last byte was sent or the client has disconnected. */
  isFinished = false;
  bodyBytes = 0;
  /** Set by the code that reads the request's body. Rejects the request, because no more of its body may be kept. */
  rejectBody: (() => void) | undefined;
  /** Called by the code that reads the request's body, after it handled the body. */
  bodyHandled: (() => void) | undefined;
  readonly #reader = readerOf(this.req.socket);
  #isCharged = false;

  constructor(...args: ConstructorParameters<typeof ServerResponse>) {
    super(...args);
    this.on('close', () => {
      this.isFinished = true;
      this.#reader?.release();
      connectionOf(this.req.socket)?.answered(this);
    });
  }

  /** Calls `then` once, when the response is finished. */
  onFinished(then: () => void): void {
    if (this.isFinished) then();
    else this.on('close', then);
  }

  /** Counts memory of the response. Returns false if the bytes exceed a budget. */
  charge(bytes: number): boolean {
    // Other clients may wait for the same data. If this response has ended, the data is therefore given up only if
    // this response was charged for earlier parts of it.
    if (this.isFinished) return !this.#isCharged;
    this.#isCharged = true;
    return this.#reader?.charge(this.req, bytes) ?? true;
  }

  credit(bytes: number): void {
    if (!this.isFinished) this.#reader?.credit(bytes);
  }

  creditAll(): void {
    if (!this.isFinished) this.#reader?.release();
  }

  freeConnection(): void {
    this.#reader?.readers.freeConnection();
  }

  override write(chunk: Chunk, encoding?: BufferEncoding | Sent, sent?: Sent): boolean {
    this.bodyBytes += Buffer.byteLength(chunk);
    // `encoding` may be a callback, but each overload in node's types has only one of these forms.
    return super.write(chunk, encoding as BufferEncoding, sent);
  }

  override end(chunk?: Chunk | Sent | null, encoding?: BufferEncoding | Sent, sent?: Sent): this {
    // Fastify passes null if there is no body.
    if (chunk && typeof chunk !== 'function') this.bodyBytes += Buffer.byteLength(chunk);
    super.end(chunk, encoding as BufferEncoding, sent);
    this.#reader?.wrote(this.req);
    return this;
  }
}
