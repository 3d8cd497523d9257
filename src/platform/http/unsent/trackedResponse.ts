import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RefuseBody } from '../pipelining/refusedRequest.ts';
import { connectionOf } from './connection.ts';
import type { Account } from './unsentBytes.ts';

type Chunk = string | Uint8Array;
type Sent = (error?: Error | null) => void;

/** Of each answer so many bytes are not counted: nearly all are smaller, and cost nothing here. */
const FREE_BYTES = 16 * 1024;

/**
 * A response that knows what it holds in memory, and when its last byte was taken. Whatever is written is counted;
 * who makes a large answer takes room for it before.
 */
export class TrackedResponse extends ServerResponse {
  /** Set where it refuses its request for what its body says: refuses what comes behind it with the same head. */
  refusesAlike: RefuseBody | undefined;
  readonly #connection = connectionOf(this.req.socket);
  #account: Account | undefined;
  /** Room that was taken for what will be written. */
  #heldBytes = 0;
  #writtenBytes = 0;
  /** Undefined where nobody wants to know. */
  #bodyBytes: number | undefined;
  #owedBytes = 0;
  #awaitsDrain = false;
  #isOver = false;
  #then: (() => void) | undefined;

  constructor(...args: ConstructorParameters<typeof ServerResponse>) {
    super(...args);
    this.#connection?.opened(this);
  }

  /** Its request was parsed, and is handled when its turn comes. */
  arrived(): void {
    this.#connection?.arrived(this);
  }

  /** What it holds now, as far as that is counted. */
  get account(): Account | undefined {
    return this.#account;
  }

  /** Takes room for bytes of an answer that is being fetched or made. Returns false where there is none. */
  charge(bytes: number): boolean {
    return this.#open()?.charge(bytes) ?? true;
  }

  /** Gives room back that `charge` took. */
  credit(bytes: number): void {
    this.#account?.credit(bytes);
  }

  /** Something that is not memory is all in use: of those that do not read one is to go. */
  givePlace(): void {
    this.#connection?.givePlace();
  }

  /** Takes room for bytes that will be written, until they are taken. Returns false where there is none. */
  hold(part: Uint8Array): boolean {
    if (part.length <= FREE_BYTES) return true;
    if (this.#open()?.hold(part) === false) return false;
    this.#heldBytes += part.length;
    return true;
  }

  /** These bytes will be written and nothing of what room was taken for before, which is given back. */
  holdOnly(parts: readonly Uint8Array[]): void {
    this.#account?.empty();
    this.#heldBytes = 0;
    // Where there is no room for one, what is written of it counts all the same.
    for (const part of parts) this.hold(part);
  }

  /** The same for a stream, of which never more is written at a time. */
  holdStream(bytes: number): boolean {
    if (!this.charge(bytes)) return false;
    this.#heldBytes += bytes;
    return true;
  }

  /** The last byte is taken, or the client is gone. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** From here on the bytes of its body are counted. */
  countBody(): void {
    this.#bodyBytes = 0;
  }

  /** Bytes of its body that were written, as far as they are counted. */
  get bodyBytes(): number {
    return this.#bodyBytes ?? 0;
  }

  /** Calls back once, when the last byte was taken or the connection is closed. At once where that is so already. */
  whenOver(then: () => void): void {
    if (this.#isOver) return then();
    const before = this.#then;
    this.#then =
      before === undefined
        ? then
        : () => {
            before();
            then();
          };
  }

  /** For the connection: it is closed. */
  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection?.over(this);
    this.#connection?.answered(this);
    this.#account?.close();
    this.#then?.();
  }

  /** Called by node when the system has taken the last byte. */
  override detachSocket(socket: Socket): void {
    super.detachSocket(socket);
    this.over();
  }

  override write(chunk: Chunk, encoding?: BufferEncoding | Sent, sent?: Sent): boolean {
    this.#count(chunk);
    // node takes a callback in place of the encoding; its types know each form for itself only.
    const goesOn = super.write(chunk, encoding as BufferEncoding, sent);
    if (!goesOn && !this.#awaitsDrain) {
      this.#awaitsDrain = true;
      this.on('drain', () => this.#drained());
    }
    return goesOn;
  }

  override end(chunk?: Chunk | Sent | null, encoding?: BufferEncoding | Sent, sent?: Sent): this {
    // A framework says null where there is no body: that of a 304.
    if (chunk && typeof chunk !== 'function') this.#count(chunk);
    // As above.
    return super.end(chunk, encoding as BufferEncoding, sent);
  }

  #count(chunk: Chunk): void {
    if (this.#bodyBytes !== undefined) this.#bodyBytes += Buffer.byteLength(chunk);
    this.#writtenBytes += chunk.length;
    const owed = this.#writtenBytes - this.#heldBytes;
    if (owed <= FREE_BYTES) return;
    const more = owed - this.#owedBytes;
    if (more <= 0) return;
    this.#owedBytes = owed;
    this.#open()?.owe(more);
    this.#connection?.owes();
  }

  #drained(): void {
    this.#writtenBytes = 0;
    this.#account?.credit(this.#owedBytes);
    this.#owedBytes = 0;
  }

  #open(): Account | undefined {
    if (this.#account === undefined && !this.#isOver) this.#account = this.#connection?.account(this.req);
    return this.#account;
  }
}
