/**
 * One server behind the guard, over UDP. Questions leave from several sockets on random ports under random ids; an answer
 * counts only if it comes from the server to the right port, under the id and with the question that were sent.
 */
import { randomFillSync } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import type { ServerAddress } from '../../../platform/addresses/index.ts';
import {
  type HashKey,
  HEADER_BYTES,
  isResponse,
  QueryType,
  Question,
  queryPacket,
  ReadResult,
  rcodeOf,
  readQuestionSection,
} from '../../protocol/index.ts';
import type { PacketFaults } from '../index.ts';
import { InFlight } from './inFlight.ts';
import { RCODE_FORMERR } from './localResponses.ts';
import { noLookup } from './noLookup.ts';

/** What comes of an answer: the guard restores the id and sends it to whoever asked. */
export type OnAnswer = (
  answer: Buffer,
  question: Question,
  inFlight: InFlight,
  ticket: number,
  backend: Backend,
) => void;

export interface BackendOptions {
  /** How long the server may take to answer. */
  readonly timeoutMs: number;
  readonly key: HashKey;
  readonly onAnswer: OnAnswer;
  readonly faults: PacketFaults;
}

/** Sixteen bits of id and four of port: the kernel picks each port at random, and one socket is replaced every second. */
const SOCKETS = 16;
/** Large enough for a second of answers: what does not fit is lost. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;
const IDS = 65_536;
const ID_ATTEMPTS = 4;
const RANDOM_BYTES = 16_384;
/** So many questions in a row without an answer in between, and the server counts as down. */
const DOWN_AFTER_TIMEOUTS = 20;
/** Twice as long after each socket that could not be opened, up to this: a route that is back is used soon. */
const MAX_WAIT_TICKS = 4;
const ROOT = Uint8Array.of(0);

interface UpstreamSocket {
  readonly socket: Socket;
  /** The ticket under which each id waits. */
  readonly tickets: Float64Array;
}

export class Backend {
  readonly address: ServerAddress;
  readonly timeoutMs: number;
  readonly inFlight = new InFlight();
  up = true;
  /** Why the last socket could not be opened, undefined where it could: no route to the server, or no descriptor left. */
  unreachable: string | undefined;
  answered = 0;
  timedOut = 0;
  /** Packets on our ports that answer nothing we asked: late answers, or somebody guessing. */
  mismatched = 0;
  readonly #key: HashKey;
  readonly #onAnswer: OnAnswer;
  readonly #faults: PacketFaults;
  readonly #question = new Question();
  /** Those that are open: none where there is no way to the server. */
  readonly #sockets: UpstreamSocket[] = [];
  readonly #opened: Promise<void>;
  readonly #retired = new Set<Socket>();
  readonly #random = Buffer.alloc(RANDOM_BYTES);
  #randomAt = RANDOM_BYTES;
  #next = 0;
  #timeoutsInARow = 0;
  #probeId = -1;
  #closed = false;
  #ticksToWait = 0;
  #nextWaitTicks = 1;

  constructor(address: ServerAddress, { timeoutMs, key, onAnswer, faults }: BackendOptions) {
    this.address = address;
    this.timeoutMs = timeoutMs;
    this.#key = key;
    this.#onAnswer = onAnswer;
    this.#faults = faults;
    this.#opened = this.#openMissing();
  }

  /** Resolves when the first sockets can send, or it is known why they cannot: neither waits for the server. */
  opened(): Promise<void> {
    return this.#opened;
  }

  /** Whether there is a socket to send from. */
  get reachable(): boolean {
    return this.#sockets.length > 0;
  }

  /** Sends a query on under a new id. False when it could not be sent: every socket was full, or none is open. */
  forward(
    query: Buffer,
    question: Question,
    address: string,
    port: number,
    frontend: number,
    nowMs: number,
  ): boolean {
    for (let attempt = 0; attempt < ID_ATTEMPTS; attempt++) {
      const upstream = this.#sockets[this.#next++ % this.#sockets.length];
      const id = this.#randomId();
      if (upstream === undefined || this.inFlight.isWaiting(upstream.tickets[id] ?? 0)) continue;
      upstream.tickets[id] = this.inFlight.add(question, address, port, frontend, nowMs);
      query[0] = id >>> 8;
      query[1] = id & 0xff;
      upstream.socket.send(query);
      return true;
    }
    return false;
  }

  /**
   * Gives up what waits too long, replaces a socket or opens those that are missing, asks a server that is down whether it
   * is back. Every second.
   */
  tick(nowMs: number): void {
    this.expire(nowMs);
    if (this.#closed) return;
    if (--this.#ticksToWait <= 0) {
      if (this.#sockets.length < SOCKETS) void this.#openMissing();
      else void this.#open(this.#next % SOCKETS);
    }
    if (!this.up) this.#probe();
  }

  /** Gives up what was sent longer ago than the time limit. */
  expire(nowMs: number): void {
    const expired = this.inFlight.expire(nowMs - this.timeoutMs);
    this.timedOut += expired;
    this.#noteTimeouts(expired);
  }

  close(): void {
    this.#closed = true;
    for (const { socket } of this.#sockets.splice(0)) closeQuietly(socket);
    for (const socket of this.#retired) closeQuietly(socket);
  }

  #noteTimeouts(count: number): void {
    this.#timeoutsInARow += count;
    if (this.#timeoutsInARow >= DOWN_AFTER_TIMEOUTS) this.up = false;
  }

  #probe(): void {
    const probe = Buffer.from(queryPacket(ROOT, QueryType.SOA, this.#randomId()));
    this.#probeId = probe.readUInt16BE(0);
    this.#sockets[0]?.socket.send(probe);
  }

  /** One socket first, which tells whether there is a way to the server, then the others. */
  async #openMissing(): Promise<void> {
    if (!(await this.#open())) return;
    await Promise.all(Array.from({ length: SOCKETS - this.#sockets.length }, () => this.#open()));
  }

  /**
   * Adds a socket, or puts it in the place of another. False where there is no way to the server: what is there goes on.
   * Connecting a UDP socket asks the routing table and nobody else.
   */
  #open(place?: number): Promise<boolean> {
    const { host, port } = this.address;
    const socket = createSocket({
      type: host.includes(':') ? 'udp6' : 'udp4',
      recvBufferSize: SOCKET_BUFFER_BYTES,
      sendBufferSize: SOCKET_BUFFER_BYTES,
      lookup: noLookup,
    });
    return new Promise((resolve) => {
      const onFailure = (error: Error): void => {
        closeQuietly(socket);
        this.#noteUnreachable(error);
        resolve(false);
      };
      socket.once('error', onFailure);
      socket.once('connect', () => {
        socket.off('error', onFailure);
        // A connected socket hears that nobody listens there: that counts as a question without an answer.
        socket.on('error', () => this.#noteTimeouts(1));
        this.#use(socket, place);
        resolve(true);
      });
      try {
        socket.connect(port, host);
      } catch (error) {
        onFailure(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  #use(socket: Socket, place = this.#sockets.length): void {
    if (this.#closed || place >= SOCKETS) return closeQuietly(socket);
    const upstream: UpstreamSocket = { socket, tickets: new Float64Array(IDS) };
    socket.on('message', (answer) => {
      try {
        this.#receive(answer, upstream);
      } catch (error) {
        this.#faults.note(error, Date.now());
      }
    });
    const old = this.#sockets[place];
    this.#sockets[place] = upstream;
    if (old !== undefined) this.#retire(old.socket);
    this.unreachable = undefined;
    this.#nextWaitTicks = 1;
  }

  #noteUnreachable(error: Error): void {
    if (this.#closed) return;
    this.unreachable = error.message;
    if (!this.reachable) this.up = false;
    this.#ticksToWait = this.#nextWaitTicks;
    this.#nextWaitTicks = Math.min(MAX_WAIT_TICKS, this.#nextWaitTicks * 2);
  }

  #receive(answer: Buffer, upstream: UpstreamSocket): void {
    if (answer.length < HEADER_BYTES || !isResponse(answer)) {
      this.mismatched++;
      return;
    }
    this.#timeoutsInARow = 0;
    const id = answer.readUInt16BE(0);
    if (!this.up) {
      this.up = true;
      if (id === this.#probeId) return;
    }
    const ticket = upstream.tickets[id] ?? 0;
    if (ticket === 0 || !this.inFlight.isWaiting(ticket) || !this.#isAnswerTo(ticket, answer)) {
      if (id !== this.#probeId) this.mismatched++;
      return;
    }
    upstream.tickets[id] = 0;
    this.inFlight.settle(ticket);
    this.answered++;
    this.#onAnswer(answer, this.#question, this.inFlight, ticket, this);
  }

  /** A server that could not read the query may answer FORMERR without the question. */
  #isAnswerTo(ticket: number, answer: Buffer): boolean {
    if (readQuestionSection(answer, answer.length, this.#key, this.#question) === ReadResult.ok)
      return this.inFlight.matches(ticket, this.#question);
    const hasNoQuestion = answer.readUInt16BE(4) === 0;
    return hasNoQuestion && rcodeOf(answer) === RCODE_FORMERR && this.#forgetQuestion();
  }

  #forgetQuestion(): true {
    this.#question.end = HEADER_BYTES;
    this.#question.labels = 0;
    return true;
  }

  /** The old socket hears late answers until nothing sent from it can be waiting any more. */
  #retire(socket: Socket): void {
    this.#retired.add(socket);
    const timer = setTimeout(() => {
      this.#retired.delete(socket);
      closeQuietly(socket);
    }, this.timeoutMs);
    timer.unref();
  }

  #randomId(): number {
    if (this.#randomAt + 2 > RANDOM_BYTES) {
      randomFillSync(this.#random);
      this.#randomAt = 0;
    }
    this.#randomAt += 2;
    return this.#random.readUInt16LE(this.#randomAt - 2);
  }
}

/** Closing twice throws in dgram; a socket that failed to open is closed already. */
function closeQuietly(socket: Socket): void {
  try {
    socket.close();
  } catch {
    // Closed already: what was wanted.
  }
}
