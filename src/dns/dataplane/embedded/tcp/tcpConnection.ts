/**
 * DNS over TCP connection from one client (RFC 7766). The guard itself answers invalid messages, limited queries, zone
 * transfers that are not allowed, and queries that no DNS server answers. It returns the answers of a DNS server
 * unchanged.
 */
import type { Socket } from 'node:net';
import { resetConnection } from '../../../../platform/sockets/index.ts';
import { type HashKey, Question, ReadResult, readHeader, readQuery } from '../../../protocol/index.ts';
import type { DnsServer, PendingUserQueries } from '../../index.ts';
import { framedResponse, type LocalResponse, responseTo } from '../localResponses.ts';
import { proxyHeader } from '../servers/proxyHeader.ts';
import { AnswerHeads } from './answerHeads.ts';
import { QueryStream } from './queryStream.ts';
import type { ServerSlots, ServerSlotUser } from './serverSlots.ts';
import type { CloseReason, TcpCounts } from './tcpCounts.ts';
import { TcpUpstream } from './tcpUpstream.ts';
import { UnansweredQueries } from './unansweredQueries.ts';

/** Time in which a client must send its first query after the connection is opened. */
const FIRST_QUERY_MS = 2000;
/** Maximum time between the first and the last byte of a client's message, which fits into one or two packets. */
const MESSAGE_MS = 2000;
/** Time after which a connection without pending queries is closed. RFC 7766, 6.2.3 recommends a few seconds. */
const IDLE_MS = 10_000;
/** Maximum time without data from the DNS server while queries are unanswered. Clients wait about as long. */
const ANSWER_MS = 5000;
/** The same if no DNS server is in use. Resolvers then retry with another name server of the zone. */
const NO_SERVER_MS = 500;
/** Time to deliver all pending answers after another client needs the server slot. Most clients need far less. */
const SLOT_RELEASE_MS = 1000;
/** Maximum time without progress in sending answers to a client that does not read them. */
const STALL_MS = 5000;
/** Maximum pause of a zone transfer. It may pause while the DNS server loads the zone or a slow link is full. */
const TRANSFER_QUIET_MS = 30_000;
/** Maximum pause of a zone transfer after the client has sent everything (FIN). */
const TRANSFER_END_MS = 2000;
/** Time in which the client must close the connection after the guard has sent all answers. */
const LINGER_MS = 1000;
/** Maximum number of bytes that are read and discarded after the guard has closed its side of the connection. */
const LINGER_BYTES = 64 * 1024;
/** Maximum time from the decision to close a connection until the last answer is sent, e.g. over a slow link. */
const CLOSING_MS = 10_000;
/** Number of unanswered queries on a connection at which the guard stops reading from the client. */
export const MAX_PIPELINED = 100;
/**
 * Number of unsent bytes at which the guard stops reading from the client and from the DNS server. A chunk of 64 KB
 * that was already read may exceed this number.
 */
export const MAX_UNSENT_BYTES = 16 * 1024;
const LENGTH_BYTES = 2;
/** Bytes of a client that are handled in one turn: about fifty queries. node reads up to 64 KB at once. */
const TURN_BYTES = 2048;
/** The same for bytes of a DNS server: about a hundred answers. */
const ANSWER_TURN_BYTES = 8192;

export interface TcpShared {
  /** Clock that advances only while the event loop runs, so that a blocked event loop does not cause timeouts. */
  readonly clockMs: number;
  readonly counts: TcpCounts;
  readonly serverSlots: ServerSlots<TcpConnection>;
  readonly key: HashKey;
  /** Number of queries after which a client's connection is closed. Not enforced during a zone transfer. */
  readonly maxQueries: number;
  /** Runs work of a client, in the client's turn if other clients wait. */
  inTurn(client: string, work: () => void): void;
  /** Returns undefined if a query may be forwarded, otherwise the answer to it. Counts the verdict. */
  refusal(question: Question, connection: TcpConnection): LocalResponse | undefined;
  /** Whether any DNS server is in use. */
  isAnyInUse(): boolean;
  /** Returns true, and counts the answers, if this number of SERVFAIL answers may be sent. */
  maySendServfail(answers: number): boolean;
  /** No DNS server has answered the pending queries of this connection. */
  onNoAnswer(connection: TcpConnection): void;
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
  /** Users' queries that wait for an answer; undefined until the first. */
  userQueries: PendingUserQueries | undefined;
  readonly #socket: Socket;
  readonly #shared: TcpShared;
  readonly #queries = new QueryStream((framed, length) => this.#read(framed, length));
  /** Received bytes that wait for the client's turn. While there are any, the socket is not read. */
  readonly #received: Buffer[] = [];
  #upstream: TcpUpstream | undefined;
  #answers: AnswerHeads | undefined;
  /** Bytes of the DNS server that wait for the client's turn. While there are any, the server is not read. */
  #serverParts: Buffer[] = [];
  #hasServerEnded = false;
  #queued: Buffer[] = [];
  /** Answers of the guard that wait because an answer of the DNS server has been sent only in part. */
  #localResponses: Buffer[] = [];
  readonly #unanswered = new UnansweredQueries();
  #closing: CloseReason | undefined;
  #hasEnded = false;
  #hasAsked = false;
  #queriesLeft: number;
  /** True if the connection will be closed when its queries are answered. */
  #closesWhenIdle = false;
  /** True if the client sent a message that is not a query. The connection closes when its queries are answered. */
  #isEnding = false;
  /** True if the server slot will be released when the queries are answered. */
  #releasesSlot = false;
  #releaseAskedMs = 0;
  #isPaused = false;
  readonly #openedMs: number;
  #messageMs = 0;
  #activeMs: number;
  #serverMs = 0;
  #flushedMs = 0;
  #closingMs = 0;
  #discardedBytes = 0;
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
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
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
    return this.#closing === undefined && (this.#unanswered.size > 0 || this.isTransferring);
  }

  /** Closes the connection in favour of another one: now if it is idle, otherwise when its queries are answered. */
  closeWhenIdle(): void {
    if (!this.isBusy) return this.reset('replaced');
    // A zone transfer ends only when the client closes the connection, so the guard must continue to read from it.
    if (this.isTransferring) return;
    this.#closesWhenIdle = true;
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
    resetConnection(this.#socket);
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
      if (isStalled || since(this.#closingMs) > this.#closingLimitMs) resetConnection(this.#socket);
      else if (this.#socket.writableLength === 0 && this.#hasLingered) this.#socket.destroy();
    } else if (isStalled) this.reset('not_reading');
    else if (!this.#hasAsked && since(this.#openedMs) > FIRST_QUERY_MS) this.reset('no_query');
    else if (this.#queries.isMidMessage && since(this.#messageMs) > MESSAGE_MS) this.reset('slow_query');
    else if (this.isTransferring) {
      // The guard does not detect the last message of a zone transfer. When the client has sent everything (FIN), a
      // short pause ends the transfer.
      const quietMs = this.#hasEnded || this.#isEnding ? TRANSFER_END_MS : TRANSFER_QUIET_MS;
      if (since(Math.max(this.#activeMs, this.#serverMs, this.#flushedMs)) > quietMs)
        this.finish(this.#isEnding ? 'no_dns' : this.#hasEnded ? 'client' : 'idle');
    } else if (this.#serverParts.length > 0) {
      // Answers wait for the client's turn.
    } else if (this.#unanswered.size > 0) {
      const isHeld = this.#upstream?.isPaused === true;
      if (this.#releasesSlot && this.#upstream?.isConnected && since(this.#releaseAskedMs) > SLOT_RELEASE_MS)
        this.reset(isHeld ? 'not_reading' : 'no_answer');
      else if (!isHeld && since(this.#serverMs) >= this.#answerMs) this.#failUnanswered();
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
        this.#releaseAskedMs = this.#shared.clockMs;
        this.#regulate();
      },
      data: (chunk) => this.#receiveFromServer(chunk),
      drain: () => this.#regulate(),
      end: () => {
        this.#hasServerEnded = true;
        if (this.#serverParts.length === 0) this.#serverEnded();
      },
    });
    for (const framed of this.#queued) this.#upstream.send(framed);
    this.#queued = [];
    this.#regulate();
  }

  requestRelease(): void {
    if (this.isTransferring) return;
    if (!this.isBusy) this.#dropServer();
    else if (!this.#releasesSlot) {
      this.#releasesSlot = true;
      this.#releaseAskedMs = this.#shared.clockMs;
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

  get #answerMs(): number {
    return this.#shared.isAnyInUse() ? ANSWER_MS : NO_SERVER_MS;
  }

  /** True if the guard has closed its side, and has read further input for long enough. */
  get #hasLingered(): boolean {
    const lingeredMs = this.#shared.clockMs - Math.max(this.#closingMs, this.#flushedMs);
    return lingeredMs >= LINGER_MS || this.#discardedBytes > LINGER_BYTES;
  }

  get #closingLimitMs(): number {
    return this.isTransferring ? TRANSFER_QUIET_MS : CLOSING_MS;
  }

  get #stallMs(): number {
    return this.isTransferring ? TRANSFER_QUIET_MS : STALL_MS;
  }

  #receive(chunk: Buffer): void {
    if (this.#closing !== undefined) return this.#discard(chunk);
    for (let start = 0; start < chunk.length; start += TURN_BYTES)
      this.#received.push(chunk.subarray(start, start + TURN_BYTES));
    this.#handleReceived();
  }

  #handleReceived(): void {
    this.#shared.inTurn(this.client, () => this.#contain(() => this.#handlePart()));
    this.#regulate();
  }

  #handlePart(): void {
    const part = this.#received.shift();
    if (part === undefined) return;
    if (this.#closing === undefined) {
      if (!this.#queries.isMidMessage) this.#messageMs = this.#shared.clockMs;
      // The answers of one turn are written together.
      this.#socket.cork();
      this.#queries.push(part);
      this.#socket.uncork();
    } else this.#discard(part);
    if (this.#received.length > 0) this.#handleReceived();
    else this.#regulate();
  }

  #receiveFromServer(chunk: Buffer): void {
    this.#serverMs = this.#shared.clockMs;
    for (let start = 0; start < chunk.length; start += ANSWER_TURN_BYTES)
      this.#serverParts.push(chunk.subarray(start, start + ANSWER_TURN_BYTES));
    this.#handleServerParts();
  }

  #handleServerParts(): void {
    this.#shared.inTurn(this.client, () => this.#contain(() => this.#handleServerPart()));
    this.#regulate();
  }

  #handleServerPart(): void {
    const part = this.#serverParts.shift();
    if (part === undefined) return;
    this.#fromServer(part);
    if (this.#serverParts.length > 0) this.#handleServerParts();
    else if (this.#hasServerEnded) this.#serverEnded();
  }

  #discard(chunk: Buffer): void {
    this.#discardedBytes += chunk.length;
    if (this.#discardedBytes > LINGER_BYTES) this.#socket.pause();
  }

  #read(framed: Buffer, length: number): void {
    if (this.#closing !== undefined || this.#isEnding || this.#isQueryLimitReached) return;
    const { counts, clockMs, key } = this.#shared;
    const packet = framed.subarray(LENGTH_BYTES);
    const result = readMessage(packet, length, key);
    counts.messages[result] = (counts.messages[result] ?? 0) + 1;
    this.#hasAsked = true;
    this.#queriesLeft--;
    this.#activeMs = clockMs;
    // If the next message has already begun, its timeout starts now.
    this.#messageMs = clockMs;
    if (result === ReadResult.ok || result === ReadResult.cookie) this.#decide(framed);
    else if (result === ReadResult.transfer && this.#mayTransfer()) this.#forward(framed);
    else if (result === ReadResult.tooShort || result === ReadResult.response) this.#endAfterAnswers();
    else this.#respondLocally(framed, responseTo(result));
    if (this.#isQueryLimitReached && !this.isBusy) this.finish('many_queries');
  }

  /**
   * Closes the connection when all pending queries are answered. The message that the client sent is not a query, and
   * an answer to it could cause a loop.
   */
  #endAfterAnswers(): void {
    this.#isEnding = true;
    if (!this.isBusy) this.finish('no_dns');
  }

  /**
   * Forwards a query, or answers REFUSED if the query is limited. TCP has verified the client address, so the answer
   * cannot hit a third party. Without an answer, the client would retry, which costs more than the answer.
   */
  #decide(framed: Buffer): void {
    const refusal = this.#shared.refusal(question, this);
    if (refusal === undefined) this.#forward(framed);
    else this.#respondLocally(framed, refusal);
  }

  #mayTransfer(): boolean {
    this.isTransferring = this.#shared.beginTransfer(this);
    return this.isTransferring;
  }

  #forward(framed: Buffer): void {
    this.#unanswered.add(framed.subarray(LENGTH_BYTES), question);
    if (this.#unanswered.size === 1) {
      this.#serverMs = this.#shared.clockMs;
      this.#shared.note(this, true);
      this.#shared.serverSlots.touch(this, true);
    }
    if (this.#upstream !== undefined) return this.#upstream.send(framed);
    if (this.#queued.push(framed) === 1) this.#shared.serverSlots.request(this);
  }

  #respondLocally(framed: Buffer, content: LocalResponse): void {
    const response = framedResponse(framed.subarray(LENGTH_BYTES), question, content);
    if (this.#answers?.isMidMessage) this.#localResponses.push(response);
    else this.#send(response);
  }

  /**
   * Answers all pending queries with SERVFAIL, because no server has answered them. The connection stays open, unless
   * the client has already received a part of an answer, or too many SERVFAIL answers were sent.
   */
  #failUnanswered(): void {
    const responses = this.#answers?.isMidMessage
      ? undefined
      : this.#unanswered.fail((answers) => this.#shared.maySendServfail(answers));
    if (responses === undefined) return this.finish('no_answer');
    this.#shared.onNoAnswer(this);
    this.#queued = [];
    // An answer that arrives later on this connection to the server would be sent to the client.
    this.#dropServer();
    for (const response of responses) this.#send(response);
    this.#becomeIdle();
    this.#regulate();
  }

  #fromServer(chunk: Buffer): void {
    if (this.#closing !== undefined) return;
    const lastEnd = this.#answers?.push(chunk) ?? 0;
    if (this.#localResponses.length > 0 && lastEnd > 0) {
      this.#send(
        Buffer.concat([chunk.subarray(0, lastEnd), ...this.#localResponses, chunk.subarray(lastEnd)]),
      );
      this.#localResponses = [];
    } else this.#send(chunk);
    // The server has sent more answers than it got queries, so answers can no longer be assigned to queries.
    if (this.#unanswered.size < 0) return this.finish('no_answer');
    if (!this.isBusy && !this.#answers?.isMidMessage) this.#becomeIdle();
    this.#regulate();
  }

  #answered(head: Uint8Array): void {
    if (!this.isTransferring) this.#unanswered.answered(head);
    this.#shared.onAnswer(head, this);
  }

  #becomeIdle(): void {
    this.#activeMs = this.#shared.clockMs;
    if (this.#hasEnded) return this.finish('client');
    if (this.#closesWhenIdle) return this.finish('replaced');
    if (this.#isEnding) return this.finish('no_dns');
    if (this.#isQueryLimitReached) return this.finish('many_queries');
    this.#shared.note(this, false);
    if (this.#releasesSlot) this.#dropServer();
    else this.#shared.serverSlots.touch(this, false);
  }

  #serverEnded(): void {
    const wasBusy = this.isBusy;
    // No server could be reached.
    if (wasBusy && !this.isTransferring && this.#upstream?.isConnected === false)
      return this.#failUnanswered();
    this.#dropServer();
    if (wasBusy) this.finish('no_answer');
  }

  #dropServer(): void {
    this.#upstream?.close();
    this.#upstream = undefined;
    this.#answers = undefined;
    this.#serverParts = [];
    this.#hasServerEnded = false;
    this.#releasesSlot = false;
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
    this.#upstream?.setPaused(isFull || this.#serverParts.length > 0);
    this.#isPaused =
      isFull ||
      this.#received.length > 0 ||
      this.#closesWhenIdle ||
      this.#isEnding ||
      this.#releasesSlot ||
      this.#localResponses.length > 0 ||
      this.#queued.length > 0 ||
      this.#unanswered.size >= MAX_PIPELINED ||
      this.#upstream?.isWritable === false;
    if (this.#isPaused) this.#socket.pause();
    else this.#socket.resume();
  }
}

/** Parses a message of `length` bytes. `packet` contains only the header of an oversized message. */
function readMessage(packet: Buffer, length: number, key: HashKey): ReadResult {
  if (length === packet.length) return readQuery(packet, key, question);
  question.edns = 0;
  return readHeader(packet, length);
}
