import type { IncomingMessage } from 'node:http';
import type { Reader } from '../unsent/readers.ts';

/** Memory of one WebSocket message to a client, from its first byte until the client has received the last. */
export class MessageMemory {
  readonly #request: IncomingMessage;
  readonly #reader: Reader;
  #chargedBytes = 0;
  #isFinished = false;

  constructor(reader: Reader, request: IncomingMessage) {
    this.#reader = reader;
    this.#request = request;
  }

  /** Whether the message was sent or its client has disconnected. */
  get isFinished(): boolean {
    return this.#isFinished || this.#reader.socket.destroyed;
  }

  /** Charges bytes of the message. Returns false if that exceeds a limit. */
  charge(bytes: number): boolean {
    if (this.#isFinished || !this.#reader.charge(this.#request, bytes)) return false;
    this.#chargedBytes += bytes;
    return true;
  }

  /** Releases bytes of the message that were charged. */
  credit(bytes: number): void {
    if (this.#isFinished) return;
    this.#chargedBytes -= bytes;
    this.#reader.credit(bytes);
  }

  freeConnection(): void {
    this.#reader.readers.freeConnection();
  }

  finish(): void {
    this.credit(this.#chargedBytes);
    this.#isFinished = true;
  }
}
