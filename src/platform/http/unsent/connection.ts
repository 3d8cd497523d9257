import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { OrderedResponse, RequestOrder } from '../pipelining/pipeline.ts';
import { Pace } from './pace.ts';
import { takenBytes } from './takenBytes.ts';
import type { Account, Client } from './unsentBytes.ts';

/** What a connection asks of those who watch all of them. */
export interface ConnectionOwner {
  readonly sendTimeoutMs: number;
  account(request: IncomingMessage): Account;
  /** A connection was given bytes that nobody took room for. */
  owes(connection: Connection): void;
  givePlace(): void;
  /** An answer over HTTP is over, and its client had its status. */
  answered(status: number): void;
}

/** What waits for a connection's client. */
export interface OpenAnswer {
  /** What it holds; undefined where that is not counted. */
  readonly account: Account | undefined;
  /** The connection is closed. */
  over(): void;
}

/** An answer over HTTP: to a request that was handled in its turn. */
export interface OpenResponse extends OpenAnswer, OrderedResponse {
  readonly headersSent: boolean;
}

/** One connection of a client, and the answers that are not over. */
export class Connection {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #open = new Set<OpenAnswer>();
  #order: RequestOrder<OpenResponse> | undefined;
  /** Its client was told that what it sends cannot be read: no answer goes out after that. */
  #isUnreadable = false;
  #pace: Pace | undefined;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    CONNECTIONS.set(socket, this);
  }

  /** How it takes what waits for it; undefined where nothing does. */
  get pace(): Pace | undefined {
    return this.#pace;
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  /** What decides when its requests are handled. */
  orderWith(order: RequestOrder<OpenResponse>): void {
    this.#order = order;
  }

  /** For an answer: it is waited for. */
  opened(answer: OpenAnswer): void {
    this.#open.add(answer);
  }

  /** For a response: its request is to be handled, in its turn. */
  arrived(response: OpenResponse): void {
    this.#order?.arrived(response);
  }

  /** For an answer: it is over. */
  over(answer: OpenAnswer): void {
    this.#open.delete(answer);
  }

  /** For a response: it is over, and the next request has its turn. */
  answered(response: OpenResponse): void {
    // Its client may have gone away before it had a status.
    if (response.headersSent && !this.#isUnreadable) this.#owner.answered(response.statusCode);
    this.#order?.over(response);
  }

  /** A request was refused without a response. */
  refused(status: number): void {
    this.#owner.answered(status);
  }

  /** What came is no request that can be read. Calls back once, when the requests before it are answered. */
  unreadable(close: () => void): void {
    if (this.#order === undefined) close();
    else this.#order.unreadable(close);
  }

  /** That was answered with this status, as the last thing. */
  toldUnreadable(status: number): void {
    this.#isUnreadable = true;
    this.#owner.answered(status);
  }

  /** For an answer. */
  account(request: IncomingMessage): Account {
    return this.#owner.account(request);
  }

  /** For an answer. */
  owes(): void {
    this.#owner.owes(this);
  }

  /** For an answer. */
  givePlace(): void {
    this.#owner.givePlace();
  }

  /** Bytes that its answers hold. */
  get heldBytes(): number {
    let bytes = 0;
    for (const { account } of this.#open) bytes += account?.bytes ?? 0;
    return bytes;
  }

  /** Bytes that a cut of it gives a client: a proxy's connection has answers of several. */
  heldBytesOf(client: Client): number {
    let bytes = 0;
    for (const { account } of this.#open) if (account?.client === client) bytes += account.bytes;
    return bytes;
  }

  /** Bytes that a cut of it gives the server: its part of what others hold too. */
  get proportionalBytes(): number {
    let bytes = 0;
    for (const { account } of this.#open) bytes += account?.proportionalBytes ?? 0;
    return bytes;
  }

  /** Time has passed. */
  passed(elapsedMs: number): void {
    if (this.#open.size === 0 || !this.#waitsForClient) {
      this.#pace = undefined;
      return;
    }
    const taken = takenBytes(this.#socket);
    if (this.#pace === undefined) this.#pace = new Pace(this.#owner.sendTimeoutMs, taken);
    else this.#pace.passed(elapsedMs, taken);
  }

  /** Closes it, what waits for its client forgotten on both sides: a reset, so that the system keeps nothing either. */
  cut(): void {
    // node resets none but plain TCP connections.
    if (this.#socket instanceof TLSSocket) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
    this.closed();
  }

  /** It leaves HTTP. Returns what came behind its last request; undefined where requests before that are not answered. */
  upgraded(): Buffer | undefined {
    return this.#order === undefined ? Buffer.alloc(0) : this.#order.upgraded();
  }

  closed(): void {
    this.#order?.closed();
    for (const answer of [...this.#open]) answer.over();
  }

  get #waitsForClient(): boolean {
    return this.#socket.writableLength > 0;
  }
}

const CONNECTIONS = new WeakMap<Socket, Connection>();

/** The connection that a socket was made known as; undefined for one of another server. */
export const connectionOf = (socket: Socket): Connection | undefined => CONNECTIONS.get(socket);
