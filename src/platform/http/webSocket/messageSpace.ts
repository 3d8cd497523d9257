import type { IncomingMessage } from 'node:http';
import type { Connection, OpenAnswer } from '../unsent/connection.ts';
import type { Account } from '../unsent/unsentBytes.ts';

/** Of each answer so many bytes are not counted: nearly all are smaller, and cost nothing here. */
const FREE_BYTES = 16 * 1024;

/** Memory that one WebSocket message holds while it is made, and until its client has taken it. */
export class MessageSpace implements OpenAnswer {
  readonly req: IncomingMessage;
  readonly #connection: Connection;
  #account: Account | undefined;
  /** Room that was taken for what will be sent. */
  #heldBytes = 0;
  #isOver = false;

  constructor(connection: Connection, request: IncomingMessage) {
    this.#connection = connection;
    this.req = request;
  }

  get account(): Account | undefined {
    return this.#account;
  }

  /** The last byte is taken, or nobody waits for it any more. */
  get isOver(): boolean {
    return this.#isOver || this.req.socket.destroyed;
  }

  /** Takes room for bytes of an answer that is being fetched or made. Returns false where there is none. */
  charge(bytes: number): boolean {
    return this.#open()?.charge(bytes) ?? false;
  }

  /** Gives room back that `charge` took. */
  credit(bytes: number): void {
    this.#account?.credit(bytes);
  }

  /** Something that is not memory is all in use: of those that do not read one is to go. */
  givePlace(): void {
    this.#connection.givePlace();
  }

  /** Takes room for bytes that will be sent. They are copied into a message, so what others share counts here as a whole. */
  hold(part: Uint8Array): boolean {
    if (part.length <= FREE_BYTES) return true;
    if (!this.charge(part.length)) return false;
    this.#heldBytes += part.length;
    return true;
  }

  /** No message is a stream. */
  holdStream(): boolean {
    return false;
  }

  /** A message of so many bytes waits to be taken, whether room was taken for it or not. */
  owe(bytes: number): void {
    const more = bytes - this.#heldBytes;
    if (more <= FREE_BYTES) return;
    this.#open()?.owe(more);
    this.#connection.owes();
  }

  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection.over(this);
    this.#account?.close();
  }

  #open(): Account | undefined {
    if (this.#account === undefined && !this.isOver) {
      this.#account = this.#connection.account(this.req);
      this.#connection.opened(this);
    }
    return this.#account;
  }
}
