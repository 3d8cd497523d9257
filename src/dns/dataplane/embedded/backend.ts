/**
 * One server behind the guard, over UDP. Questions leave from several sockets on random ports under random ids; an answer
 * counts only if it comes from the server to the right port, under the id and with the question that were sent.
 */
import { randomFillSync } from 'node:crypto';
import type { Socket } from 'node:dgram';
import {
  type HashKey,
  HEADER_BYTES,
  isResponse,
  Question,
  ReadResult,
  rcodeOf,
  readQuestionSection,
} from '../../protocol/index.ts';
import type { DnsServer, PacketFaults } from '../index.ts';
import { type Client, type Counterpart, InFlight } from './inFlight.ts';
import { RCODE_FORMERR, RCODE_SERVFAIL } from './localResponses.ts';
import type { Probe } from './probe.ts';
import { type ListenAddresses, proxyHeader } from './proxyHeader.ts';
import { ServerHealth, Standing } from './serverHealth.ts';
import { type UpstreamSocket, UpstreamSockets } from './upstreamSockets.ts';

/** What comes of an answer: the guard restores the id and sends it to whoever asked. */
export type OnAnswer = (answer: Buffer, backend: Backend, ticket: number) => void;

/** Asks another server what this one did not answer, with its SERVFAIL where there is one. False where none is to be asked. */
export type AskAnother = (backend: Backend, ticket: number, servfail: Buffer | undefined) => boolean;

export interface BackendOptions {
  /** How long the server may take to answer. */
  readonly timeoutMs: number;
  readonly key: HashKey;
  readonly probe: Probe;
}

export interface BackendDependencies {
  readonly onAnswer: OnAnswer;
  readonly askAnother: AskAnother;
  /** For a server that is told who asks. */
  readonly listenAddresses: ListenAddresses;
  readonly faults: PacketFaults;
}

const ID_ATTEMPTS = 4;
const RANDOM_BYTES = 16_384;
/** Larger queries are rare, and asked of one server alone: what waits to be asked again takes no more than 32 MB. */
const MAX_KEPT_BYTES = 512;
/** No client sends from port 0: what comes from there is a probe. */
const PROBE_PORT = 0;
const NOBODY: Client = { address: '', port: PROBE_PORT };

export class Backend {
  readonly address: DnsServer;
  readonly timeoutMs: number;
  readonly inFlight = new InFlight();
  /** Of the last answer that was read. */
  readonly question = new Question();
  readonly health = new ServerHealth();
  answered = 0;
  timedOut = 0;
  /** Packets on our ports that answer nothing we asked: late answers, or somebody guessing. */
  mismatched = 0;
  /** Queries that another server was asked, as this one answered SERVFAIL or nothing in time. */
  retried = 0;
  /** Whether there are others to ask. */
  keepsQueries = false;
  readonly #key: HashKey;
  readonly #probe: Probe;
  readonly #dependencies: BackendDependencies;
  readonly #sockets: UpstreamSockets;
  readonly #random = Buffer.alloc(RANDOM_BYTES);
  #randomAt = RANDOM_BYTES;
  #probeTicket = 0;
  /** Something was late since the last good answer. */
  #isSuspect = false;

  constructor(
    address: DnsServer,
    { timeoutMs, key, probe }: BackendOptions,
    dependencies: BackendDependencies,
  ) {
    this.address = address;
    this.timeoutMs = timeoutMs;
    this.#key = key;
    this.#probe = probe;
    this.#dependencies = dependencies;
    const { faults } = dependencies;
    this.#sockets = new UpstreamSockets(
      { address, lingerMs: timeoutMs },
      {
        onMessage: (answer, upstream) => {
          try {
            this.#receive(answer, upstream);
          } catch (error) {
            faults.note(error, Date.now());
          }
        },
        onRefused: () => this.health.noteRefusal(),
      },
    );
  }

  /** Resolves when the first sockets can send, or it is known why they cannot: neither waits for the server. */
  opened(): Promise<void> {
    return this.#sockets.opened();
  }

  get unreachable(): string | undefined {
    return this.#sockets.unreachable;
  }

  get standing(): Standing {
    return this.#sockets.reachable ? this.health.standing : Standing.unreachable;
  }

  /** Whether it answers as it should. */
  get up(): boolean {
    return this.standing === Standing.inUse;
  }

  /** Sends a query on under a new id. False when it could not be sent: every socket was full, or none is open. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is made
  forward(query: Buffer, question: Question, client: Client, frontend: number, nowMs: number): boolean {
    const upstream = this.#freeSocket(query);
    if (upstream === undefined) return false;
    const ticket = this.inFlight.add(question, client, frontend, nowMs);
    if (this.keepsQueries && query.length <= MAX_KEPT_BYTES) this.inFlight.keep(ticket, query);
    this.#send(query, upstream, ticket);
    return true;
  }

  /** Sends a query that waits at another server, too. */
  forwardAgain(query: Buffer, first: Counterpart, nowMs: number): boolean {
    const upstream = this.#freeSocket(query);
    if (upstream === undefined) return false;
    const ticket = this.inFlight.addAgain(first.inFlight, first.ticket, nowMs);
    this.inFlight.pair(ticket, first);
    first.inFlight.pair(first.ticket, { inFlight: this.inFlight, ticket });
    this.#send(query, upstream, ticket);
    return true;
  }

  /** What was sent before the question with this ticket, and is not answered, is late. */
  makeLate(before: number): void {
    this.inFlight.makeLate(before, (ticket) => this.#late(ticket));
  }

  /** Judges the last probe and sends the next. */
  probe(nowMs: number): void {
    if (this.#isProbeWaiting) {
      this.inFlight.settle(this.#probeTicket);
      this.#probeUnanswered();
    }
    this.#probeTicket = 0;
    // With no other server to turn to it is only asked where something is wrong.
    if (!this.keepsQueries && this.up && !this.#isSuspect) return;
    const { packet, question } = this.#probe;
    const probe = Buffer.from(packet);
    const upstream = this.#freeSocket(probe);
    if (upstream === undefined) return;
    this.#probeTicket = this.inFlight.add(question, NOBODY, 0, nowMs);
    this.#send(probe, upstream, this.#probeTicket);
  }

  /** Gives up what waits too long, replaces a socket or opens those that are missing. Every second. */
  tick(nowMs: number): void {
    const wasProbeWaiting = this.#isProbeWaiting;
    this.timedOut += this.inFlight.expire(nowMs - this.timeoutMs);
    if (wasProbeWaiting && !this.#isProbeWaiting) {
      // A probe is no client's query.
      this.timedOut--;
      this.#probeUnanswered();
    }
    this.#sockets.tick();
  }

  close(): void {
    this.#sockets.close();
  }

  get #isProbeWaiting(): boolean {
    return this.#probeTicket !== 0 && this.inFlight.isWaiting(this.#probeTicket);
  }

  #probeUnanswered(): void {
    this.#isSuspect = true;
    this.health.noteProbe('silent');
  }

  /** A socket with an id that nothing waits under, which the query gets. */
  #freeSocket(query: Buffer): UpstreamSocket | undefined {
    for (let attempt = 0; attempt < ID_ATTEMPTS; attempt++) {
      const upstream = this.#sockets.next();
      const id = this.#randomId();
      if (upstream === undefined || this.inFlight.isWaiting(upstream.tickets[id] ?? 0)) continue;
      query[0] = id >>> 8;
      query[1] = id & 0xff;
      return upstream;
    }
    return undefined;
  }

  #send(query: Buffer, { socket, tickets }: UpstreamSocket, ticket: number): void {
    tickets[((query[0] as number) << 8) | (query[1] as number)] = ticket; // the id is in every query
    if (this.address.proxyProtocol !== undefined)
      socket.send(Buffer.concat([this.#proxyHeader(ticket, socket), query]));
    else socket.send(query);
  }

  /** A probe comes from the guard itself. */
  #proxyHeader(ticket: number, socket: Socket): Buffer {
    const { inFlight } = this;
    const client = { host: inFlight.clientAddress(ticket), port: inFlight.clientPort(ticket) };
    const to = this.#dependencies.listenAddresses.of(inFlight.frontend(ticket));
    if (client.port !== PROBE_PORT && to !== undefined) return proxyHeader(client, to, 'udp');
    const { address: host, port } = socket.address();
    return proxyHeader({ host, port }, this.address, 'udp');
  }

  #receive(answer: Buffer, upstream: UpstreamSocket): void {
    if (answer.length < HEADER_BYTES || !isResponse(answer)) {
      this.mismatched++;
      return;
    }
    const id = answer.readUInt16BE(0);
    const ticket = upstream.tickets[id] ?? 0;
    if (ticket === 0 || !this.inFlight.isWaiting(ticket) || !this.#isAnswerTo(ticket, answer)) {
      this.mismatched++;
      return;
    }
    upstream.tickets[id] = 0;
    if (this.inFlight.clientPort(ticket) === PROBE_PORT) return this.#probed(answer, ticket);
    this.answered++;
    const counterpart = this.inFlight.counterpart(ticket);
    const isServfail = rcodeOf(answer) === RCODE_SERVFAIL;
    if (counterpart === undefined && !this.inFlight.isLate(ticket)) this.#noteFirst(!isServfail);
    if (isServfail && this.#otherMayAnswer(answer, ticket, counterpart)) return;
    this.#deliver(answer, ticket, counterpart);
  }

  #probed(answer: Buffer, ticket: number): void {
    this.inFlight.settle(ticket);
    const result = this.#probe.judge(answer);
    this.#isSuspect = result !== 'good';
    this.health.noteProbe(result);
  }

  #noteFirst(isGood: boolean): void {
    this.health.note(isGood);
    if (isGood) this.#isSuspect = false;
  }

  /** Whether another server may know better than SERVFAIL: then it is kept, in case that it does not. */
  #otherMayAnswer(answer: Buffer, ticket: number, counterpart: Counterpart | undefined): boolean {
    if (counterpart === undefined) {
      if (!this.#dependencies.askAnother(this, ticket, answer)) return false;
    } else {
      const { inFlight, ticket: other, servfail } = counterpart;
      if (servfail !== undefined || !inFlight.isWaiting(other) || inFlight.isLate(other)) return false;
      inFlight.pair(other, { inFlight: this.inFlight, ticket, servfail: answer });
    }
    this.inFlight.settle(ticket);
    return true;
  }

  #deliver(answer: Buffer, ticket: number, counterpart: Counterpart | undefined): void {
    this.inFlight.settle(ticket);
    if (counterpart?.inFlight.isWaiting(counterpart.ticket)) counterpart.inFlight.settle(counterpart.ticket);
    this.#dependencies.onAnswer(answer, this, ticket);
  }

  #late(ticket: number): void {
    if (this.inFlight.clientPort(ticket) === PROBE_PORT) return;
    const counterpart = this.inFlight.counterpart(ticket);
    if (counterpart === undefined) {
      this.#isSuspect = true;
      this.health.note(false);
      this.#dependencies.askAnother(this, ticket, undefined);
    } else if (counterpart.servfail !== undefined && this.#isAnswerTo(ticket, counterpart.servfail))
      this.#deliver(counterpart.servfail, ticket, undefined);
  }

  /** A server that could not read the query may answer FORMERR without the question. */
  #isAnswerTo(ticket: number, answer: Buffer): boolean {
    if (readQuestionSection(answer, this.#key, this.question) === ReadResult.ok)
      return this.inFlight.matches(ticket, this.question);
    const hasNoQuestion = answer.readUInt16BE(4) === 0;
    return hasNoQuestion && rcodeOf(answer) === RCODE_FORMERR && this.#forgetQuestion();
  }

  #forgetQuestion(): true {
    this.question.end = HEADER_BYTES;
    this.question.labels = 0;
    return true;
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
