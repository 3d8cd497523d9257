/**
 * UDP client for one DNS server, with random ports and transaction IDs. An answer is accepted only if it comes from
 * the server, arrives on the port of a pending query, and has the ID and the question of this query.
 */
import { randomFillSync } from 'node:crypto';
import type { Socket } from 'node:dgram';
import {
  type HashKey,
  HEADER_BYTES,
  isBareError,
  isResponse,
  Question,
  ReadResult,
  rcodeOf,
  readQuestionSection,
  readUint16,
} from '../../../protocol/index.ts';
import type { DnsServer, PacketFaults, ResponseTimes } from '../../index.ts';
import { RCODE_SERVFAIL } from '../localResponses.ts';
import { type UpstreamSocket, UpstreamSockets } from '../udp/upstreamSockets.ts';
import { type Client, type Counterpart, InFlight, RING_SIZE } from './inFlight.ts';
import type { Probe } from './probe.ts';
import { type ListenAddresses, proxyHeader } from './proxyHeader.ts';
import { HealthStatus, ServerHealth } from './serverHealth.ts';

/** Receives each accepted answer and the ticket (sequence number) of its query. */
export type OnAnswer = (answer: Buffer, backend: Backend, ticket: number) => void;

/**
 * Retries a query with another server, because the answer is late or is SERVFAIL (`servfail`). Returns false if the
 * query cannot be retried.
 */
export type RetryElsewhere = (backend: Backend, ticket: number, servfail: Buffer | undefined) => boolean;

/** Answers a pending query with SERVFAIL. Returns false if too many were sent; the query then stays pending. */
export type OnNoServer = (query: Buffer, backend: Backend, ticket: number) => boolean;

export interface BackendOptions {
  /** Time in which the DNS server must answer a query, in milliseconds. */
  readonly timeoutMs: number;
  readonly key: HashKey;
  readonly probe: Probe;
}

export interface BackendDependencies {
  readonly onAnswer: OnAnswer;
  readonly retryElsewhere: RetryElsewhere;
  /** Listen addresses by frontend number, used as destination addresses in PROXY protocol headers. */
  readonly listenAddresses: ListenAddresses;
  /** Called for each query that no server answered, with its `userZone` (see `QueryPolicy.userZone`). */
  readonly onUnanswered: (userZone: number) => void;
  readonly responseTimes: ResponseTimes;
  readonly onNoServer: OnNoServer;
  readonly faults: PacketFaults;
}

const ID_ATTEMPTS = 4;
const RANDOM_BYTES = 16_384;
/**
 * Maximum size of a query that is kept for a retry, or for a SERVFAIL answer; larger ones are rare. The kept queries
 * need at most 32 MB.
 */
const MAX_KEPT_BYTES = 512;
/** Client port that marks a health probe among the pending queries. Queries of clients with port 0 are dropped. */
const PROBE_PORT = 0;
const PROBE_CLIENT: Client = { address: '', port: PROBE_PORT };

export class Backend {
  readonly address: DnsServer;
  readonly timeoutMs: number;
  readonly inFlight: InFlight;
  readonly question = new Question();
  readonly health = new ServerHealth();
  answered = 0;
  timedOut = 0;
  /** Number of packets that do not answer a pending query, such as answers after the timeout and forged answers. */
  mismatched = 0;
  /** Number of queries retried with another server, because this server answered SERVFAIL or not in time. */
  retried = 0;
  allowsRetries = false;
  readonly #key: HashKey;
  readonly #probe: Probe;
  readonly #dependencies: BackendDependencies;
  readonly #sockets: UpstreamSockets;
  readonly #random = Buffer.alloc(RANDOM_BYTES);
  #randomAt = RANDOM_BYTES;
  #probeTicket = 0;
  /** Lowest ticket of a query that `countSlow` has not checked. */
  #unchecked = 1;

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
    const { faults, onUnanswered } = dependencies;
    this.inFlight = new InFlight((userZone, ticket) => {
      onUnanswered(userZone);
      this.#countTime(ticket, false);
    });
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
        onRefused: () => this.health.notePortUnreachable(),
      },
    );
  }

  /** Resolves when the first sockets to the server are connected or have failed. */
  opened(): Promise<void> {
    return this.#sockets.opened();
  }

  get unreachable(): string | undefined {
    return this.#sockets.unreachable;
  }

  get status(): HealthStatus {
    return this.#sockets.reachable ? this.health.status : HealthStatus.unreachable;
  }

  get up(): boolean {
    return this.status === HealthStatus.inUse;
  }

  /** Forwards a query with a new transaction ID. Returns false if no socket is open, or no unused ID was found. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet; an options object would be allocated
  forward(
    query: Buffer,
    question: Question,
    client: Client,
    frontend: number,
    nowMs: number,
    userZone: number,
  ): boolean {
    const upstream = this.#freeSocket(query);
    if (upstream === undefined) return false;
    const ticket = this.inFlight.add(question, client, frontend, nowMs, userZone);
    if (query.length <= MAX_KEPT_BYTES) this.inFlight.keep(ticket, query);
    this.#send(query, upstream, ticket);
    return true;
  }

  /** Sends a query that is pending at another server (`first`) to this server too. Returns false like `forward`. */
  forwardAgain(query: Buffer, first: Counterpart, nowMs: number): boolean {
    const upstream = this.#freeSocket(query);
    if (upstream === undefined) return false;
    const ticket = this.inFlight.addAgain(first.inFlight, first.ticket, nowMs);
    this.inFlight.pair(ticket, first);
    first.inFlight.pair(first.ticket, { inFlight: this.inFlight, ticket });
    this.#send(query, upstream, ticket);
    return true;
  }

  /** Counts pending queries with a ticket below `before` as unanswered in time. They still wait for an answer. */
  countSlow(before: number): void {
    let ticket = Math.max(this.#unchecked, this.inFlight.next - RING_SIZE);
    for (; ticket < before; ticket++) if (this.inFlight.isWaiting(ticket)) this.#countTime(ticket, false);
    this.#unchecked = ticket;
  }

  /** Retries late queries with another server: those with a ticket (sequence number) below `before`. */
  markLate(before: number): void {
    this.inFlight.markLate(before, (ticket) => this.#late(ticket));
  }

  /** Answers the queries with a ticket below `before`. Called if no server is in use. */
  answerOlder(before: number): void {
    this.inFlight.visitOlder(before, (ticket) => {
      const query = this.inFlight.kept(ticket);
      if (query === undefined || this.inFlight.clientPort(ticket) === PROBE_PORT) return;
      if (!this.#dependencies.onNoServer(query, this, ticket)) return;
      this.timedOut++;
      this.inFlight.giveUp(ticket);
    });
  }

  /** Counts the last health probe as failed if it is still unanswered, and sends the next one. */
  probe(nowMs: number): void {
    if (this.#isProbeWaiting) {
      this.inFlight.settle(this.#probeTicket);
      this.#probeUnanswered();
    }
    this.#probeTicket = 0;
    const { packet, question } = this.#probe;
    const probe = Buffer.from(packet);
    const upstream = this.#freeSocket(probe);
    if (upstream === undefined) return;
    this.#probeTicket = this.inFlight.add(question, PROBE_CLIENT, 0, nowMs);
    this.#send(probe, upstream, this.#probeTicket);
  }

  /** Removes queries whose timeout has expired, and replaces a socket. Called every second. */
  tick(nowMs: number): void {
    const wasProbeWaiting = this.#isProbeWaiting;
    this.timedOut += this.inFlight.expire(nowMs - this.timeoutMs);
    if (wasProbeWaiting && !this.#isProbeWaiting) {
      // One of the expired queries was the health probe, which `timedOut` must not count.
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
    this.health.noteProbe('silent');
    if (!this.allowsRetries) this.#dependencies.responseTimes.probeFailed();
  }

  /**
   * Writes a random transaction ID to the query, and returns a socket on which this ID is unused. Undefined if no
   * socket is open, or no such ID was found.
   */
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
    tickets[((query[0] as number) << 8) | (query[1] as number)] = ticket; // every query has an ID
    if (this.address.proxyProtocol !== undefined)
      socket.send(Buffer.concat([this.#proxyHeader(ticket, socket), query]));
    else socket.send(query);
  }

  /** Returns the PROXY protocol header for a query. The source is the client, for a health probe the guard itself. */
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
    if (counterpart === undefined && !this.inFlight.isLate(ticket)) this.#noteHealth(ticket, !isServfail);
    if (isServfail && this.#otherMayAnswer(answer, ticket, counterpart)) return;
    this.#deliver(answer, ticket, counterpart);
  }

  #probed(answer: Buffer, ticket: number): void {
    this.inFlight.settle(ticket);
    this.health.noteProbe(this.#probe.judge(answer));
  }

  /** Returns true if another server may still answer a query. This server's SERVFAIL is then kept as a fallback. */
  #otherMayAnswer(answer: Buffer, ticket: number, counterpart: Counterpart | undefined): boolean {
    if (counterpart === undefined) {
      if (!this.#dependencies.retryElsewhere(this, ticket, answer)) return false;
    } else {
      const { inFlight, ticket: other, servfail } = counterpart;
      if (servfail !== undefined || !inFlight.isWaiting(other) || inFlight.isLate(other)) return false;
      inFlight.pair(other, { inFlight: this.inFlight, ticket, servfail: answer });
    }
    this.inFlight.settle(ticket);
    return true;
  }

  #deliver(answer: Buffer, ticket: number, counterpart: Counterpart | undefined): void {
    this.#countTime(ticket, rcodeOf(answer) !== RCODE_SERVFAIL);
    this.inFlight.settle(ticket);
    if (counterpart?.inFlight.isWaiting(counterpart.ticket)) counterpart.inFlight.settle(counterpart.ticket);
    this.#dependencies.onAnswer(answer, this, ticket);
  }

  /**
   * Counts the response time of a query for a known name, unless it was counted before. `isAnswered`: answered in time
   * and not with SERVFAIL. Other errors, such as REFUSED, depend on the query and not on the server.
   */
  #countTime(ticket: number, isAnswered: boolean): void {
    const userZone = this.inFlight.takeTimed(ticket);
    if (userZone === 0) return;
    const { responseTimes } = this.#dependencies;
    if (isAnswered) responseTimes.answered(userZone, Date.now() - this.inFlight.sentMs(ticket));
    else responseTimes.unanswered(userZone);
  }

  #noteHealth(ticket: number, isGood: boolean): void {
    if (this.inFlight.showsHealth(ticket)) this.health.note(isGood);
  }

  #late(ticket: number): void {
    if (this.inFlight.clientPort(ticket) === PROBE_PORT) return;
    // Counted before the retry, so that an answer to the copy is not counted too.
    this.#countTime(ticket, false);
    const counterpart = this.inFlight.counterpart(ticket);
    if (counterpart === undefined) {
      this.#noteHealth(ticket, false);
      this.#dependencies.retryElsewhere(this, ticket, undefined);
    } else if (counterpart.servfail !== undefined && this.#isAnswerTo(ticket, counterpart.servfail))
      this.#deliver(counterpart.servfail, ticket, undefined);
  }

  /**
   * Returns true if the answer repeats the question of the query. An error answer may omit the question, and the
   * answer to a DNS cookie must. It is then accepted, because server, port and transaction ID match.
   */
  #isAnswerTo(ticket: number, answer: Buffer): boolean {
    if (readQuestionSection(answer, this.#key, this.question) === ReadResult.ok)
      return this.inFlight.matches(ticket, this.question);
    const isBare = this.inFlight.hasQuestion(ticket) ? isBareError(answer) : readUint16(answer, 4) === 0;
    return isBare && this.#forgetQuestion();
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
