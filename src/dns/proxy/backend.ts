/**
 * One server behind the guard, over UDP. Questions leave from several sockets on random ports under random ids; an answer
 * counts only if it comes from the server to the right port, under the id and with the question that were sent.
 */
import { randomFillSync } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import type { HashKey } from '../nameHash.ts';
import { isResponse, rcodeOf } from '../wire/answer.ts';
import { QueryType } from '../wire/queryTypes.ts';
import { HEADER_BYTES, Question, ReadResult, readQuestionSection } from '../wire/question.ts';
import { queryPacket } from '../wire/questionOf.ts';
import { InFlight } from './inFlight.ts';
import { RCODE_FORMERR } from './ownAnswers.ts';
import type { PacketFaults } from './packetFaults.ts';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

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
const ROOT = Uint8Array.of(0);

interface Line {
  readonly socket: Socket;
  /** The ticket under which each id waits. */
  readonly tickets: Float64Array;
  ready: boolean;
}

export class Backend {
  readonly address: ServerAddress;
  readonly timeoutMs: number;
  readonly inFlight = new InFlight();
  up = true;
  answered = 0;
  timedOut = 0;
  /** Packets on our ports that answer nothing we asked: late answers, or somebody guessing. */
  mismatched = 0;
  readonly #key: HashKey;
  readonly #onAnswer: OnAnswer;
  readonly #faults: PacketFaults;
  readonly #question = new Question();
  readonly #lines: Line[] = [];
  readonly #retired = new Set<Socket>();
  readonly #random = Buffer.alloc(RANDOM_BYTES);
  #randomAt = RANDOM_BYTES;
  #next = 0;
  #timeoutsInARow = 0;
  #probeId = -1;
  #closed = false;

  constructor(address: ServerAddress, { timeoutMs, key, onAnswer, faults }: BackendOptions) {
    this.address = address;
    this.timeoutMs = timeoutMs;
    this.#key = key;
    this.#onAnswer = onAnswer;
    this.#faults = faults;
    for (let i = 0; i < SOCKETS; i++) this.#lines.push(this.#open());
  }

  /** Resolves when the first sockets can send. */
  async opened(): Promise<void> {
    await Promise.all(
      this.#lines.map(
        (line) => line.ready || new Promise<void>((resolve) => line.socket.once('connect', () => resolve())),
      ),
    );
  }

  /** Sends a query on under a new id. False when it could not be sent: every line was full or closed. */
  forward(
    query: Buffer,
    question: Question,
    address: string,
    port: number,
    front: number,
    nowMs: number,
  ): boolean {
    for (let attempt = 0; attempt < ID_ATTEMPTS; attempt++) {
      const line = this.#lines[this.#next++ % SOCKETS];
      const id = this.#randomId();
      if (line === undefined || !line.ready || this.inFlight.isWaiting(line.tickets[id] ?? 0)) continue;
      line.tickets[id] = this.inFlight.add(question, address, port, front, nowMs);
      query[0] = id >>> 8;
      query[1] = id & 0xff;
      line.socket.send(query);
      return true;
    }
    return false;
  }

  /** Gives up what waits too long, replaces a socket, asks a server that is down whether it is back. Every second. */
  tick(nowMs: number): void {
    this.expire(nowMs);
    this.#replaceOneLine();
    if (this.up) return;
    const probe = Buffer.from(queryPacket(ROOT, QueryType.SOA, this.#randomId()));
    this.#probeId = probe.readUInt16BE(0);
    const line = this.#lines.find(({ ready }) => ready);
    line?.socket.send(probe);
  }

  /** Gives up what was sent longer ago than the time limit. */
  expire(nowMs: number): void {
    const expired = this.inFlight.expire(nowMs - this.timeoutMs);
    this.timedOut += expired;
    this.#noteTimeouts(expired);
  }

  close(): void {
    this.#closed = true;
    for (const { socket } of this.#lines) closeQuietly(socket);
    for (const socket of this.#retired) closeQuietly(socket);
  }

  #noteTimeouts(count: number): void {
    this.#timeoutsInARow += count;
    if (this.#timeoutsInARow >= DOWN_AFTER_TIMEOUTS) this.up = false;
  }

  #open(): Line {
    const { host, port } = this.address;
    const socket = createSocket({
      type: host.includes(':') ? 'udp6' : 'udp4',
      recvBufferSize: SOCKET_BUFFER_BYTES,
      sendBufferSize: SOCKET_BUFFER_BYTES,
    });
    const line: Line = { socket, tickets: new Float64Array(IDS), ready: false };
    socket.on('message', (answer) => {
      try {
        this.#receive(answer, line);
      } catch (error) {
        this.#faults.note(error, Date.now());
      }
    });
    // A connected socket hears that nobody listens there: that counts as a question without an answer.
    socket.on('error', () => this.#noteTimeouts(1));
    socket.connect(port, host, () => {
      line.ready = !this.#closed;
    });
    return line;
  }

  #receive(answer: Buffer, line: Line): void {
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
    const ticket = line.tickets[id] ?? 0;
    if (ticket === 0 || !this.inFlight.isWaiting(ticket) || !this.#isAnswerTo(ticket, answer)) {
      if (id !== this.#probeId) this.mismatched++;
      return;
    }
    line.tickets[id] = 0;
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
  #replaceOneLine(): void {
    const index = this.#next % SOCKETS;
    const old = this.#lines[index];
    if (this.#closed || old === undefined) return;
    const fresh = this.#open();
    fresh.socket.once('connect', () => {
      if (this.#closed) return closeQuietly(fresh.socket);
      this.#lines[index] = fresh;
      this.#retired.add(old.socket);
      const timer = setTimeout(() => {
        this.#retired.delete(old.socket);
        closeQuietly(old.socket);
      }, this.timeoutMs);
      timer.unref();
    });
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
