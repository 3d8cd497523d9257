/**
 * DNS over TCP connection from one client (RFC 7766). The guard itself answers invalid messages, limited queries, and
 * zone transfers that are not allowed. It forwards other queries to a DNS server, and returns the answers unchanged.
 */
import type { Socket } from 'node:net';
import { type HashKey, Question, ReadResult, readHeader, readQuery } from '../../../protocol/index.ts';
import type { DnsServer } from '../../index.ts';
import { answerFault, refuse } from '../localResponses.ts';
import { proxyHeader } from '../servers/proxyHeader.ts';
import { AnswerHeads } from './answerHeads.ts';
import { QueryStream } from './queryStream.ts';
import type { ServerSlots, ServerSlotUser } from './serverSlots.ts';
import type { CloseReason, TcpCounts } from './tcpCounts.ts';
import { TcpUpstream } from './tcpUpstream.ts';

/** Time in which a client must send its first query after the connection is opened. */
const FIRST_QUERY_MS = 2000;
/** Maximum time between the first and the last byte of a client's message, which fits into one or two packets. */
const MESSAGE_MS = 2000;
/** Time after which a connection without pending queries is closed. RFC 7766, 6.2.3 recommends a few seconds. */
const IDLE_MS = 10_000;
/** Maximum time without data from the DNS server while queries are unanswered. Clients wait about as long. */
const ANSWER_MS = 5000;
/** Time to deliver all pending answers after another client needs the server slot. Most clients need far less. */
const SLOT_RELEASE_MS = 1000;
/** Maximum time without progress in sending answers to a client that does not read them. */
const STALL_MS = 5000;
/** Maximum pause of a zone transfer. It may pause while the DNS server loads the zone or a slow link is full. */
const TRANSFER_QUIET_MS = 30_000;
/** Time in which the client must close the connection after the guard. Unsent answers extend this time. */
const LINGER_MS = 2000;
/** Number of unanswered queries on a connection at which the guard stops reading from the client. */
export const MAX_PIPELINED = 100;
/**
 * Number of unsent bytes at which the guard stops reading from the client and from the DNS server. A chunk of 64 KB
 * that was already read may exceed this number.
 */
export const MAX_UNSENT_BYTES = 16 * 1024;
const LENGTH_BYTES = 2;

export interface TcpShared {
  /** Clock that advances only while the event loop runs, so that a blocked event loop does not cause timeouts. */
  readonly clockMs: number;
  readonly counts: TcpCounts;
  readonly serverSlots: ServerSlots<TcpConnection>;
  readonly key: HashKey;
  /** Number of queries after which a client's connection is closed. Not enforced during a zone transfer. */
  readonly maxQueries: number;
  /** Returns true if a query may be forwarded, and counts the verdict on it. */
  passes(question: Question, connection: TcpConnection): boolean;
  servers(): readonly DnsServer[];
  isInUse(server: DnsServer): boolean;
  onAnswer(head: Uint8Array, connection: TcpConnection): void;
  /** Returns true if the client may transfer a zone now. Counts the transfer as allowed or refused. */
  beginTransfer(connection: TcpConnection): boolean;
  note(connection: TcpConnection, isBusy: boolean): void;
  closed(connection: TcpConnection, reason: CloseReason): void;
  failed(error: unknown): void;
}

export interface AcceptedSocket {
  readonly socket: Socket;
  readonly address: string;
  /** Client for which connections are limited: an IPv4 address, or an IPv6 /64 network. */
  readonly client: string;
}

const question = new Question();

export class TcpConnection implements ServerSlotUser {
  readonly client: string;
  readonly address: string;
  isTransferring = false;
  readonly #socket: Socket;
  readonly #shared: TcpShared;
  readonly #queries = new QueryStream((framed, length) => this.#read(framed, length));
  #upstream: TcpUpstream | undefined;
  #answers: AnswerHeads | undefined;
  #queued: Buffer[] = [];
  /** Answers of the guard that wait because an answer of the DNS server has been sent only in part. */
  #localResponses: Buffer[] = [];
  #unanswered = 0;
  #closing: CloseReason | undefined;
  #hasEnded = false;
  #hasAsked = false;
  #queriesLeft: number;
  /** True if the connection will be closed when its queries are answered. */
  #givesWay = false;
  /** True if the server slot will be released when the queries are answered. */
  #givesPlaceBack = false;
  #askedBackMs = 0;
  #isPaused = false;
  readonly #openedMs: number;
  #messageMs = 0;
  #activeMs: number;
  #serverMs = 0;
  #flushedMs = 0;
  #closingMs = 0;
  readonly #onFlushed = (): void => {
    this.#flushedMs = this.#shared.clockMs;
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
    // Errors need no handling, because the `close` event follows.
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#closing ??= 'client';
      this.#dropServer();
      shared.closed(this, this.#closing);
    });
  }

  get isBusy(): boolean {
    return this.#closing === undefined && (this.#unanswered > 0 || this.isTransferring);
  }

  /** Closes the connection in favour of another one: now if it is idle, otherwise when its queries are answered. */
  closeWhenIdle(): void {
    if (!this.isBusy) return this.reset('gave_way');
    // A zone transfer ends only when the client closes the connection, so the guard must continue to read from it.
    if (this.isTransferring) return;
    this.#givesWay = true;
    this.#regulate();
  }

  finish(reason: CloseReason): void {
    if (this.#closing !== undefined) return;
    this.#closing = reason;
    this.#closingMs = this.#shared.clockMs;
    this.#dropServer();
    this.#shared.note(this, false);
    this.#socket.end();
    // Further input is read and discarded. If it were not read, the close would reset the connection.
    this.#socket.resume();
  }

  /** Resets the connection: closes it immediately and discards unsent answers. */
  reset(reason: CloseReason): void {
    this.#closing ??= reason;
    this.#socket.resetAndDestroy();
  }

  /** Closes the connection if a timeout has expired. Called several times per second. */
  enforceTimeouts(): void {
    const nowMs = this.#shared.clockMs;
    const since = (ms: number): number => nowMs - ms;
    const isStalled = this.#socket.writableLength > 0 && since(this.#flushedMs) > this.#stallMs;
    if (this.#isPaused) this.#messageMs = nowMs;
    this.#upstream?.enforceConnectTimeout();
    const server = this.#upstream?.server;
    if (server !== undefined && !this.#shared.isInUse(server)) this.requestRelease();
    if (this.#closing !== undefined) {
      if (isStalled) this.#socket.resetAndDestroy();
      else if (this.#socket.writableLength === 0 && since(this.#closingMs) > LINGER_MS)
        this.#socket.destroy();
    } else if (isStalled) this.reset('not_reading');
    else if (!this.#hasAsked && since(this.#openedMs) > FIRST_QUERY_MS) this.reset('no_query');
    else if (this.#queries.isMidMessage && since(this.#messageMs) > MESSAGE_MS) this.reset('slow_query');
    else if (this.isTransferring) {
      // The guard does not detect the last message of a zone transfer. When the client has sent everything (FIN), a
      // short pause ends the transfer.
      const quietMs = this.#hasEnded ? LINGER_MS : TRANSFER_QUIET_MS;
      if (since(Math.max(this.#activeMs, this.#serverMs, this.#flushedMs)) > quietMs)
        this.finish(this.#hasEnded ? 'client' : 'idle');
    } else if (this.#unanswered > 0) {
      const isHeld = this.#upstream?.isPaused === true;
      if (this.#givesPlaceBack && this.#upstream?.isConnected && since(this.#askedBackMs) > SLOT_RELEASE_MS)
        this.reset(isHeld ? 'not_reading' : 'no_answer');
      else if (!isHeld && since(this.#serverMs) > ANSWER_MS) this.finish('no_answer');
    } else if (since(this.#activeMs) > IDLE_MS) this.finish('idle');
  }

  onSlotGranted(): void {
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

  requestRelease(): void {
    if (this.isTransferring) return;
    if (!this.isBusy) this.#dropServer();
    else if (!this.#givesPlaceBack) {
      this.#givesPlaceBack = true;
      this.#askedBackMs = this.#shared.clockMs;
    }
    this.#regulate();
  }

  /** Catches exceptions, so that a bug in Floodgate closes only this connection. */
  #contain(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.#shared.failed(error);
      this.reset('fault');
    }
  }

  /** True if the client has sent the maximum number of queries. Further queries are ignored. */
  get #isQueryLimitReached(): boolean {
    return this.#queriesLeft <= 0 && !this.isTransferring;
  }

  get #stallMs(): number {
    return this.isTransferring ? TRANSFER_QUIET_MS : STALL_MS;
  }

  #receive(chunk: Buffer): void {
    if (this.#closing !== undefined) return;
    if (!this.#queries.isMidMessage) this.#messageMs = this.#shared.clockMs;
    this.#queries.push(chunk);
    this.#regulate();
  }

  #read(framed: Buffer, length: number): void {
    if (this.#closing !== undefined || this.#isQueryLimitReached) return;
    const { counts, clockMs, key } = this.#shared;
    const packet = framed.subarray(LENGTH_BYTES);
    // An oversized message was cut to its header.
    const result = length > packet.length ? readHeader(packet, length) : readQuery(packet, key, question);
    counts.messages[result] = (counts.messages[result] ?? 0) + 1;
    this.#hasAsked = true;
    this.#queriesLeft--;
    this.#activeMs = clockMs;
    // If the next message has already begun, its timeout starts now.
    this.#messageMs = clockMs;
    if (result === ReadResult.ok) this.#decide(framed);
    else if (result === ReadResult.transfer && this.#mayTransfer()) this.#forward(framed);
    else if (result === ReadResult.tooShort || result === ReadResult.response) this.reset('no_dns');
    else this.#respondLocally(framed, answerFault(packet, result, question.end));
    if (this.#isQueryLimitReached && !this.isBusy) this.finish('many_queries');
  }

  /**
   * Forwards a query, or answers REFUSED if the query is limited. TCP has verified the client address, so the answer
   * cannot hit a third party. Without an answer, the client would retry, which costs more than the answer.
   */
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
      this.#shared.serverSlots.touch(this, true);
    }
    if (this.#upstream !== undefined) return this.#upstream.send(framed);
    if (this.#queued.push(framed) === 1) this.#shared.serverSlots.request(this);
  }

  #respondLocally(framed: Buffer, size: number): void {
    framed.writeUInt16BE(size, 0);
    const response = framed.subarray(0, LENGTH_BYTES + size);
    if (this.#answers?.isMidMessage) this.#localResponses.push(response);
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
    // The server has sent more answers than it got queries, so answers can no longer be assigned to queries.
    if (this.#unanswered < 0) return this.finish('no_answer');
    if (!this.isBusy && !this.#answers?.isMidMessage) this.#becomeIdle();
    this.#regulate();
  }

  #answered(head: Uint8Array): void {
    if (!this.isTransferring) this.#unanswered--;
    this.#shared.onAnswer(head, this);
  }

  #becomeIdle(): void {
    this.#activeMs = this.#shared.clockMs;
    if (this.#hasEnded) return this.finish('client');
    if (this.#givesWay) return this.finish('gave_way');
    if (this.#isQueryLimitReached) return this.finish('many_queries');
    this.#shared.note(this, false);
    if (this.#givesPlaceBack) this.#dropServer();
    else this.#shared.serverSlots.touch(this, false);
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
    this.#shared.serverSlots.release(this);
  }

  #send(framed: Buffer): void {
    if (this.#socket.writableLength === 0) this.#onFlushed();
    this.#socket.write(framed, this.#onFlushed);
  }

  /** Pauses or resumes reading from the client and from the DNS server, depending on unsent data and on queues. */
  #regulate(): void {
    if (this.#closing !== undefined) return;
    const isFull = this.#socket.writableNeedDrain;
    this.#upstream?.setPaused(isFull);
    this.#isPaused =
      isFull ||
      this.#givesWay ||
      this.#givesPlaceBack ||
      this.#localResponses.length > 0 ||
      this.#queued.length > 0 ||
      this.#unanswered >= MAX_PIPELINED ||
      this.#upstream?.isWritable === false;
    if (this.#isPaused) this.#socket.pause();
    else this.#socket.resume();
  }
}
