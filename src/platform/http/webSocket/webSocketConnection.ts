import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { Stepping, Turns } from '../pipelining/turns.ts';
import type { Connection } from '../unsent/connection.ts';
import { type CloseReason, closingOf, reasonOf } from './closing.ts';
import { MessageSpace } from './messageSpace.ts';
import { PushedBytes } from './pushedBytes.ts';

/** What a connection is for. */
export interface MessageHandler {
  /** A message came. Where it resolves later it counts as carried out only then; it never rejects. */
  message(bytes: Buffer): Promise<void> | void;
  /** Why its client may not go on; undefined where it may. Asked every now and then. */
  refusal(): CloseReason | undefined;
  closed(): void;
}

export interface WebSocketConnectionDependencies {
  readonly socket: WebSocket;
  readonly connection: Connection;
  /** That the connection began with. */
  readonly request: IncomingMessage;
  readonly turns: Turns;
  /** It is closing, or closed, for a reason that is told once. */
  readonly closing: (reason: CloseReason) => void;
  readonly closed: () => void;
}

/** Messages of a connection that are carried out at the same time. As many again wait, as bytes, and the rest at its client. */
const MAX_RUNNING = 16;
/** Looks at a connection between which nothing came, not even an answer to a ping. */
const MAX_SILENT_LOOKS = 2;

/** One WebSocket: messages come in as fast as they are carried out, and go out as fast as the client takes them. */
export class WebSocketConnection implements Stepping {
  readonly request: IncomingMessage;
  readonly #dependencies: WebSocketConnectionDependencies;
  readonly #socket: WebSocket;
  readonly #maxUnsentBytes: number;
  readonly #handler: MessageHandler;
  readonly #pushed: PushedBytes;
  readonly #queue: Buffer[] = [];
  #running = 0;
  #silentLooks = 0;
  #isDraining = false;
  #isTold = false;

  constructor(
    maxUnsentBytes: number,
    dependencies: WebSocketConnectionDependencies,
    handlerOf: (connection: WebSocketConnection) => MessageHandler,
  ) {
    const { socket, connection, request } = dependencies;
    this.request = request;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.#dependencies = dependencies;
    this.#socket = socket;
    this.#pushed = new PushedBytes(connection, request);
    this.#handler = handlerOf(this);
    socket.on('message', (bytes: Buffer) => this.#received(bytes));
    socket.on('ping', () => this.#heard());
    socket.on('pong', () => this.#heard());
    socket.on('error', (error) => {
      this.#tell(reasonOf(error));
    });
    socket.on('close', (code) => this.#closed(code));
  }

  /** Room for the answer to a message. */
  space(): MessageSpace {
    return new MessageSpace(this.#dependencies.connection, this.request);
  }

  /** Sends an answer. Resolves once its last byte is taken, or never will be. */
  answer(message: Buffer, space: MessageSpace): Promise<void> {
    space.owe(message.length);
    return new Promise((resolve) => {
      this.#socket.send(message, { binary: false }, () => {
        space.over();
        resolve();
      });
    });
  }

  /** Sends what the client has not asked for just now. Closes the connection where it has not taken what came before. */
  push(message: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const bytes = Buffer.byteLength(message);
    // One message alone may be of any size.
    if (this.#pushed.bytes > 0 && this.#pushed.bytes + bytes > this.#maxUnsentBytes)
      return this.close('slow');
    this.#pushed.add(bytes);
    this.#socket.send(message, { binary: false }, () => this.#pushed.taken(bytes));
  }

  /** Begins to close: what was sent before comes first. A client that does not answer in time is hung up on. */
  close(reason: CloseReason): void {
    this.#tell(reason);
    const { code, text } = closingOf(reason);
    this.#socket.close(code, text);
  }

  /** Takes no more messages, and closes when those that run are answered. */
  drain(): void {
    this.#isDraining = true;
    this.#queue.length = 0;
    if (this.#running === 0) this.close('stopping');
  }

  /** Time has passed: whoever was not heard of since the look before the last is hung up on, and the others are asked. */
  look(): void {
    const refusal = this.#handler.refusal();
    if (refusal !== undefined) return this.close(refusal);
    // While it waits for us nothing of it is read.
    if (this.#running > 0 || this.#queue.length > 0) return this.#heard();
    if (this.#silentLooks >= MAX_SILENT_LOOKS) return this.close('idle');
    this.#silentLooks++;
    this.#socket.ping();
  }

  /** Carries out one message of those that wait. */
  step(): void {
    if (this.#running >= MAX_RUNNING) return;
    const next = this.#queue.shift();
    if (next !== undefined) this.#carryOut(next);
    if (this.#queue.length > 0) this.#dependencies.turns.add(this);
    else this.#socket.resume();
  }

  #heard(): void {
    this.#silentLooks = 0;
  }

  #received(bytes: Buffer): void {
    this.#heard();
    if (this.#isDraining || this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#queue.length === 0 && this.#running < MAX_RUNNING) return this.#carryOut(bytes);
    this.#queue.push(bytes);
    this.#socket.pause();
    this.#dependencies.turns.add(this);
  }

  #carryOut(bytes: Buffer): void {
    const done = this.#handler.message(bytes);
    if (done === undefined) return;
    this.#running++;
    void done.then(() => {
      this.#running--;
      if (this.#queue.length > 0) this.#dependencies.turns.add(this);
      else if (this.#isDraining && this.#running === 0) this.close('stopping');
    });
  }

  #closed(code: number): void {
    this.#queue.length = 0;
    this.#dependencies.turns.delete(this);
    this.#pushed.over();
    this.#handler.closed();
    this.#tell(code === NO_CLOSE_FRAME ? 'gone' : 'client');
    this.#dependencies.closed();
  }

  #tell(reason: CloseReason): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#dependencies.closing(reason);
  }
}

/** What a connection is said to be closed with that just ended. */
const NO_CLOSE_FRAME = 1006;
