/**
 * One client's connection of DNS over TCP (RFC 7766). Its messages are read one by one, as over UDP: what is no query, and a
 * zone transfer that is not allowed, is answered here; queries go to a server whole, and its answers come back as they are.
 */
import type { Socket } from 'node:net';
import { type HashKey, Question, ReadResult, readHeader, readQuery } from '../../protocol/index.ts';
import type { DnsServer } from '../index.ts';
import { AnswerHeads } from './answerHeads.ts';
import { answerFault, refuse } from './localResponses.ts';
import { proxyHeader } from './proxyHeader.ts';
import { QueryStream } from './queryStream.ts';
import type { PlaceHolder, ServerPlaces } from './serverPlaces.ts';
import type { CloseReason, TcpCounts } from './tcpCounts.ts';
import { TcpUpstream } from './tcpUpstream.ts';

/** One that has asked nothing: a client opens a connection because it has a question. */
const FIRST_QUERY_MS = 2000;
/** From the first byte of a message to its last: a query fits into one packet or two. */
const MESSAGE_MS = 2000;
/** RFC 7766, 6.2.3: an idle limit of the order of seconds. */
const IDLE_MS = 10_000;
/** Clients give up about then. */
const ANSWER_MS = 5000;
/** To get and take all its answers when somebody else waits for its place at the server: honest ones need far less. */
const GIVE_BACK_MS = 1000;
/** How long a client may take none of what waits for it. */
const STALL_MS = 5000;
/** A transfer pauses while a server reads its zone, or a slow line is full. */
const TRANSFER_QUIET_MS = 30_000;
/** For the last answers to arrive, and the client's own end of the connection. */
const LINGER_MS = 2000;
/** Queries of one connection that wait for answers; further ones wait in its socket. */
const MAX_PIPELINED = 100;
/** What waits for a client: beyond, nothing more is read from it or for it. One chunk of 64 KB may still come on top. */
export const MAX_UNSENT_BYTES = 16 * 1024;
const LENGTH_BYTES = 2;

/** What all connections share. */
export interface TcpShared {
  /** Milliseconds that the loop was there to hear of things: time that it was held up is no client's fault. */
  readonly clockMs: number;
  readonly counts: TcpCounts;
  readonly serverPlaces: ServerPlaces<TcpConnection>;
  /** Under which names are hashed. */
  readonly key: HashKey;
  /** Queries of one connection, after which it ends; transfers do not count. */
  readonly maxQueries: number;
  /** Whether a query may go to a server. */
  passes(question: Question, connection: TcpConnection): boolean;
  /** The servers in the order in which they are tried. */
  servers(): readonly DnsServer[];
  /** Whether a connection to this server may stay. */
  isInUse(server: DnsServer): boolean;
  /** Hears the head of each answer. */
  onAnswer(head: Uint8Array, address: string): void;
  /** Whether the client may have a zone, and takes it into account. */
  beginTransfer(connection: TcpConnection): boolean;
  note(connection: TcpConnection, isBusy: boolean): void;
  closed(connection: TcpConnection, reason: CloseReason): void;
  /** Handling what came failed, by a fault of ours. */
  failed(error: unknown): void;
}

/** A connection as it was accepted. */
export interface AcceptedSocket {
  readonly socket: Socket;
  readonly address: string;
  /** Whose it is counted as: the address, or its network. */
  readonly client: string;
}

const question = new Question();

export class TcpConnection implements PlaceHolder {
  readonly client: string;
  readonly address: string;
  isTransferring = false;
  readonly #socket: Socket;
  readonly #shared: TcpShared;
  readonly #queries = new QueryStream((framed, length) => this.#read(framed, length));
  #upstream: TcpUpstream | undefined;
  #answers: AnswerHeads | undefined;
  /** Queries for a server that is not there yet. */
  #queued: Buffer[] = [];
  /** Answers of the guard's own that came in the middle of a server's: they go between two. */
  #localResponses: Buffer[] = [];
  #unanswered = 0;
  #closing: CloseReason | undefined;
  /** The client has sent all that it wants to. */
  #hasEnded = false;
  #hasAsked = false;
  #queriesLeft: number;
  /** To close, and to give back the server's place, when everything is answered. */
  #givesWay = false;
  #givesPlaceBack = false;
  #askedBackMs = 0;
  #isHeld = false;
  readonly #openedMs: number;
  #messageMs = 0;
  #activeMs: number;
  #serverMs = 0;
  #takenMs = 0;
  #closingMs = 0;
  readonly #taken = (): void => {
    this.#takenMs = this.#shared.clockMs;
  };

  constructor({ socket, address, client }: AcceptedSocket, shared: TcpShared) {
    this.client = client;
    this.address = address;
    this.#socket = socket;
    this.#shared = shared;
    this.#queriesLeft = shared.maxQueries;
    this.#openedMs = shared.clockMs;
    this.#activeMs = shared.clockMs;
    socket.on('data', (chunk: Buffer) => this.#contain(() => this.#receive(chunk)));
    socket.on('drain', () => this.#regulate());
    socket.on('end', () => {
      this.#hasEnded = true;
      if (!this.isBusy) this.finish('client');
    });
    // The close follows.
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#closing ??= 'client';
      this.#dropServer();
      shared.closed(this, this.#closing);
    });
  }

  /** Whether something that it asked is still to be answered. */
  get isBusy(): boolean {
    return this.#closing === undefined && (this.#unanswered > 0 || this.isTransferring);
  }

  /** Makes room for another client's connection: at once, or when what it asked is answered. */
  giveWay(): void {
    if (!this.isBusy) return this.reset('gave_way');
    // A transfer is not interrupted, and its client has to be heard when it is through.
    if (this.isTransferring) return;
    this.#givesWay = true;
    this.#regulate();
  }

  /** Ends the connection when what is there for the client has gone. */
  finish(reason: CloseReason): void {
    if (this.#closing !== undefined) return;
    this.#closing = reason;
    this.#closingMs = this.#shared.clockMs;
    this.#dropServer();
    this.#shared.note(this, false);
    this.#socket.end();
    // Whatever still comes is read and forgotten: bytes that nobody read would turn the end into a reset.
    this.#socket.resume();
  }

  /** Ends it at once, and lets go of all that waits in it. */
  reset(reason: CloseReason): void {
    this.#closing ??= reason;
    this.#socket.resetAndDestroy();
  }

  /** Ends it where it takes longer than it may. Call it a few times a second. */
  endOverdue(): void {
    const nowMs = this.#shared.clockMs;
    const since = (ms: number): number => nowMs - ms;
    const isStalled = this.#socket.writableLength > 0 && since(this.#takenMs) > this.#stallMs;
    if (this.#isHeld) this.#messageMs = nowMs;
    this.#upstream?.endOverdue();
    const server = this.#upstream?.server;
    if (server !== undefined && !this.#shared.isInUse(server)) this.giveBack();
    if (this.#closing !== undefined) {
      if (isStalled) this.#socket.resetAndDestroy();
      else if (this.#socket.writableLength === 0 && since(this.#closingMs) > LINGER_MS)
        this.#socket.destroy();
    } else if (isStalled) this.reset('not_reading');
    else if (!this.#hasAsked && since(this.#openedMs) > FIRST_QUERY_MS) this.reset('no_query');
    else if (this.#queries.isInside && since(this.#messageMs) > MESSAGE_MS) this.reset('slow_query');
    else if (this.isTransferring) {
      // Where a transfer ends is in no message of its own: a client that closes its half when it has all is not kept waiting.
      const quietMs = this.#hasEnded ? LINGER_MS : TRANSFER_QUIET_MS;
      if (since(Math.max(this.#activeMs, this.#serverMs, this.#takenMs)) > quietMs)
        this.finish(this.#hasEnded ? 'client' : 'idle');
    } else if (this.#unanswered > 0) {
      const isHeld = this.#upstream?.isHeld === true;
      if (this.#givesPlaceBack && this.#upstream?.isConnected && since(this.#askedBackMs) > GIVE_BACK_MS)
        this.reset(isHeld ? 'not_reading' : 'no_answer');
      else if (!isHeld && since(this.#serverMs) > ANSWER_MS) this.finish('no_answer');
    } else if (since(this.#activeMs) > IDLE_MS) this.finish('idle');
  }

  mayConnect(): void {
    this.#answers = new AnswerHeads((head) => this.#answered(head));
    this.#serverMs = this.#shared.clockMs;
    const { localAddress: host = '', localPort: port = 0, remotePort = 0 } = this.#socket;
    const options = {
      servers: this.#shared.servers(),
      clockMs: () => this.#shared.clockMs,
      proxyHeader: () => proxyHeader({ host: this.address, port: remotePort }, { host, port }, 'tcp'),
    };
    this.#upstream = new TcpUpstream(options, {
      connect: () => {
        this.#serverMs = this.#shared.clockMs;
        this.#askedBackMs = this.#shared.clockMs;
        this.#regulate();
      },
      data: (chunk) => this.#contain(() => this.#fromServer(chunk)),
      drain: () => this.#regulate(),
      end: () => this.#serverEnded(),
    });
    for (const framed of this.#queued) this.#upstream.send(framed);
    this.#queued = [];
    this.#regulate();
  }

  giveBack(): void {
    if (this.isTransferring) return;
    if (!this.isBusy) this.#dropServer();
    else if (!this.#givesPlaceBack) {
      this.#givesPlaceBack = true;
      this.#askedBackMs = this.#shared.clockMs;
    }
    this.#regulate();
  }

  /** A fault of ours costs this connection and nothing else. */
  #contain(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.#shared.failed(error);
      this.reset('fault');
    }
  }

  /** It had all its queries: what follows is not read. */
  get #isSpent(): boolean {
    return this.#queriesLeft <= 0 && !this.isTransferring;
  }

  get #stallMs(): number {
    return this.isTransferring ? TRANSFER_QUIET_MS : STALL_MS;
  }

  #receive(chunk: Buffer): void {
    if (this.#closing !== undefined) return;
    if (!this.#queries.isInside) this.#messageMs = this.#shared.clockMs;
    this.#queries.push(chunk);
    this.#regulate();
  }

  #read(framed: Buffer, length: number): void {
    if (this.#closing !== undefined || this.#isSpent) return;
    const { counts, clockMs, key } = this.#shared;
    const packet = framed.subarray(LENGTH_BYTES);
    // A longer one than any query is not there but for its header.
    const result = length > packet.length ? readHeader(packet, length) : readQuery(packet, key, question);
    counts.messages[result] = (counts.messages[result] ?? 0) + 1;
    this.#hasAsked = true;
    this.#queriesLeft--;
    this.#activeMs = clockMs;
    // What follows in the same chunk begins now.
    this.#messageMs = clockMs;
    if (result === ReadResult.ok) this.#decide(framed);
    else if (result === ReadResult.transfer && this.#mayTransfer()) this.#forward(framed);
    else if (result === ReadResult.tooShort || result === ReadResult.response) this.reset('no_dns');
    else this.#respondLocally(framed, answerFault(packet, result, question.end));
    if (this.#isSpent && !this.isBusy) this.finish('many_queries');
  }

  /** What is refused hears so: its sender is there, and another try would cost both more. */
  #decide(framed: Buffer): void {
    if (this.#shared.passes(question, this)) this.#forward(framed);
    else this.#respondLocally(framed, refuse(framed.subarray(LENGTH_BYTES), question.end));
  }

  #mayTransfer(): boolean {
    this.isTransferring = this.#shared.beginTransfer(this);
    return this.isTransferring;
  }

  #forward(framed: Buffer): void {
    if (this.#unanswered++ === 0) {
      this.#serverMs = this.#shared.clockMs;
      this.#shared.note(this, true);
      this.#shared.serverPlaces.note(this, true);
    }
    if (this.#upstream !== undefined) return this.#upstream.send(framed);
    if (this.#queued.push(framed) === 1) this.#shared.serverPlaces.request(this);
  }

  /** The answer stands in the query's own bytes, so many of them. */
  #respondLocally(framed: Buffer, size: number): void {
    framed.writeUInt16BE(size, 0);
    const response = framed.subarray(0, LENGTH_BYTES + size);
    if (this.#answers?.isInside) this.#localResponses.push(response);
    else this.#send(response);
  }

  #fromServer(chunk: Buffer): void {
    if (this.#closing !== undefined) return;
    this.#serverMs = this.#shared.clockMs;
    const lastEnd = this.#answers?.push(chunk) ?? 0;
    if (this.#localResponses.length > 0 && lastEnd > 0) {
      this.#send(
        Buffer.concat([chunk.subarray(0, lastEnd), ...this.#localResponses, chunk.subarray(lastEnd)]),
      );
      this.#localResponses = [];
    } else this.#send(chunk);
    // More answers than questions: nobody can say any more what answers what.
    if (this.#unanswered < 0) return this.finish('no_answer');
    if (!this.isBusy && !this.#answers?.isInside) this.#becomeIdle();
    this.#regulate();
  }

  #answered(head: Uint8Array): void {
    if (!this.isTransferring) this.#unanswered--;
    this.#shared.onAnswer(head, this.address);
  }

  #becomeIdle(): void {
    this.#activeMs = this.#shared.clockMs;
    if (this.#hasEnded) return this.finish('client');
    if (this.#givesWay) return this.finish('gave_way');
    if (this.#isSpent) return this.finish('many_queries');
    this.#shared.note(this, false);
    if (this.#givesPlaceBack) this.#dropServer();
    else this.#shared.serverPlaces.note(this, false);
  }

  #serverEnded(): void {
    const wasBusy = this.isBusy;
    this.#dropServer();
    if (wasBusy) this.finish('no_answer');
  }

  #dropServer(): void {
    this.#upstream?.close();
    this.#upstream = undefined;
    this.#answers = undefined;
    this.#givesPlaceBack = false;
    this.#shared.serverPlaces.release(this);
  }

  #send(framed: Buffer): void {
    if (this.#socket.writableLength === 0) this.#taken();
    this.#socket.write(framed, this.#taken);
  }

  /** Reads no more than can be dealt with, on either side. */
  #regulate(): void {
    if (this.#closing !== undefined) return;
    const isFull = this.#socket.writableNeedDrain;
    this.#upstream?.hold(isFull);
    this.#isHeld =
      isFull ||
      this.#givesWay ||
      this.#givesPlaceBack ||
      this.#localResponses.length > 0 ||
      this.#queued.length > 0 ||
      this.#unanswered >= MAX_PIPELINED ||
      this.#upstream?.takesMore === false;
    if (this.#isHeld) this.#socket.pause();
    else this.#socket.resume();
  }
}
