/**
 * Queries that wait for an answer of one DNS server: a ring buffer of fixed size, in the order of sending. All
 * queries have the same timeout, so the oldest query expires first. If the ring is full, a new query evicts the
 * oldest one.
 */
import type { RemoteInfo } from 'node:dgram';
import type { Question } from '../../../protocol/index.ts';

const CLASS_IN = 1;
/** Capacity of the ring buffer: enough for 32,000 unanswered queries per second at a timeout of 2 s. */
export const RING_SIZE = 65_536;

export type Client = Pick<RemoteInfo, 'address' | 'port'>;

/** The other one of two copies of a query, sent to two DNS servers. An answer to one copy completes both. */
export interface Counterpart {
  readonly inFlight: InFlight;
  readonly ticket: number;
  /** SERVFAIL answer to the counterpart. The client gets it if there is no better answer in time. */
  readonly servfail?: Buffer | undefined;
}

/** Whether the response time of a query is still to be counted. */
const Timing = {
  pending: 0,
  counted: 1,
  /** Not counted: the class is not IN, or the query is unusual (`Question.isUnusual`). */
  ignored: 2,
} as const;

export class InFlight {
  readonly #clientAddress: string[] = new Array<string>(RING_SIZE).fill('');
  readonly #clientPort = new Uint16Array(RING_SIZE);
  readonly #clientId = new Uint16Array(RING_SIZE);
  readonly #frontend = new Uint16Array(RING_SIZE);
  readonly #hashHigh = new Uint32Array(RING_SIZE);
  readonly #hashLow = new Uint32Array(RING_SIZE);
  readonly #type = new Uint16Array(RING_SIZE);
  readonly #class = new Uint16Array(RING_SIZE);
  /** Value of `Question.edns` for each query. */
  readonly #edns = new Uint8Array(RING_SIZE);
  readonly #sentMs = new Float64Array(RING_SIZE);
  /** Value that `QueryPolicy.userZone` had for each query. */
  readonly #userZone = new Uint16Array(RING_SIZE);
  /** One of {@link Timing} for each query. */
  readonly #timing = new Uint8Array(RING_SIZE);
  /**
   * Ticket of the query in each slot, or 0 if the slot is free. Tickets are sequence numbers from 1, so that
   * successive queries in the same slot have different tickets.
   */
  readonly #ticket = new Float64Array(RING_SIZE);
  /** Packet of the query in each slot, kept for a retry with another server until it is answered or retried. */
  readonly #kept = new Array<Buffer | undefined>(RING_SIZE).fill(undefined);
  /** Counterpart of each query that was sent to two servers, by ticket. */
  readonly #counterparts = new Map<number, Counterpart>();
  #head = 1;
  #tail = 1;
  /** Lowest ticket of a query that is not late. A query with a lower ticket is late, unless it is settled. */
  #late = 1;
  /** Lowest ticket that {@link visitOlder} has not visited. */
  #visited = 1;
  #waiting = 0;
  readonly #onUnanswered: (userZone: number, ticket: number) => void;

  /**
   * `onUnanswered` receives the `userZone` and the ticket of each expired or evicted query that no other server may
   * answer.
   */
  constructor(onUnanswered: (userZone: number, ticket: number) => void = () => undefined) {
    this.#onUnanswered = onUnanswered;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get next(): number {
    return this.#head;
  }

  /** Stores a query and returns its ticket. If the ring is full, the oldest query is evicted. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet; an options object would be allocated
  add(question: Question, { address, port }: Client, frontend: number, nowMs: number, userZone = 0): number {
    const ticket = this.#take();
    const place = ticket % RING_SIZE;
    this.#clientAddress[place] = address;
    this.#clientPort[place] = port;
    this.#clientId[place] = question.id;
    this.#frontend[place] = frontend;
    this.#hashHigh[place] = question.hashHigh;
    this.#hashLow[place] = question.hashLow;
    this.#type[place] = question.type;
    this.#class[place] = question.class;
    this.#edns[place] = question.edns;
    this.#sentMs[place] = nowMs;
    this.#userZone[place] = userZone;
    const isOrdinary = question.class === CLASS_IN && !question.isUnusual;
    this.#timing[place] = isOrdinary ? Timing.pending : Timing.ignored;
    return ticket;
  }

  /** Stores a copy of a query that is pending in the ring of another server, `first`. Returns the copy's ticket. */
  addAgain(first: InFlight, firstTicket: number, nowMs: number): number {
    const ticket = this.#take();
    const place = ticket % RING_SIZE;
    const from = firstTicket % RING_SIZE;
    this.#clientAddress[place] = first.clientAddress(firstTicket);
    this.#clientPort[place] = first.clientPort(firstTicket);
    this.#clientId[place] = first.clientId(firstTicket);
    this.#frontend[place] = first.frontend(firstTicket);
    this.#hashHigh[place] = first.#hashHigh[from] ?? 0;
    this.#hashLow[place] = first.#hashLow[from] ?? 0;
    this.#type[place] = first.#type[from] ?? 0;
    this.#class[place] = first.#class[from] ?? 0;
    this.#edns[place] = first.edns(firstTicket);
    this.#sentMs[place] = nowMs;
    this.#userZone[place] = first.userZone(firstTicket);
    this.#timing[place] = first.#timing[from] ?? Timing.ignored;
    return ticket;
  }

  keep(ticket: number, query: Buffer): void {
    this.#kept[ticket % RING_SIZE] = query;
  }

  kept(ticket: number): Buffer | undefined {
    return this.#kept[ticket % RING_SIZE];
  }

  pair(ticket: number, counterpart: Counterpart): void {
    this.#kept[ticket % RING_SIZE] = undefined;
    this.#counterparts.set(ticket, counterpart);
  }

  counterpart(ticket: number): Counterpart | undefined {
    return this.#counterparts.size === 0 ? undefined : this.#counterparts.get(ticket);
  }

  /** Returns true if the query with this ticket is pending. Ticket 0 is never assigned. */
  isWaiting(ticket: number): boolean {
    return ticket !== 0 && this.#ticket[ticket % RING_SIZE] === ticket;
  }

  matches(ticket: number, answered: Question): boolean {
    const place = ticket % RING_SIZE;
    return (
      this.#hashHigh[place] === answered.hashHigh &&
      this.#hashLow[place] === answered.hashLow &&
      this.#type[place] === answered.type &&
      this.#class[place] === answered.class
    );
  }

  clientAddress(ticket: number): string {
    return this.#clientAddress[ticket % RING_SIZE] ?? '';
  }

  /** Returns the port of the client, or 0 for a health probe. */
  clientPort(ticket: number): number {
    return this.#clientPort[ticket % RING_SIZE] ?? 0;
  }

  clientId(ticket: number): number {
    return this.#clientId[ticket % RING_SIZE] ?? 0;
  }

  frontend(ticket: number): number {
    return this.#frontend[ticket % RING_SIZE] ?? 0;
  }

  edns(ticket: number): number {
    return this.#edns[ticket % RING_SIZE] ?? 0;
  }

  /** Returns false if the query consists of a DNS cookie. */
  hasQuestion(ticket: number): boolean {
    const place = ticket % RING_SIZE;
    return this.#hashHigh[place] !== 0 || this.#hashLow[place] !== 0;
  }

  userZone(ticket: number): number {
    return this.#userZone[ticket % RING_SIZE] ?? 0;
  }

  sentMs(ticket: number): number {
    return this.#sentMs[ticket % RING_SIZE] ?? 0;
  }

  /**
   * Returns the `userZone` of a query whose response time must be counted now, and 0 for other queries. Each query is
   * counted once, also if it was sent to two servers.
   */
  takeTimed(ticket: number): number {
    const place = ticket % RING_SIZE;
    if (this.#timing[place] !== Timing.pending) return 0;
    this.#timing[place] = Timing.counted;
    return this.userZone(ticket);
  }

  /** Returns false if servers may reject or ignore the query, so that its outcome does not show their health. */
  showsHealth(ticket: number): boolean {
    return this.#timing[ticket % RING_SIZE] !== Timing.ignored;
  }

  /** Frees the slot of a query that was answered, has expired or is evicted. */
  settle(ticket: number): void {
    const place = ticket % RING_SIZE;
    this.#ticket[place] = 0;
    this.#kept[place] = undefined;
    this.#waiting--;
    if (this.#counterparts.size > 0) this.#counterparts.delete(ticket);
  }

  isLate(ticket: number): boolean {
    return ticket < this.#late;
  }

  /** Calls `onLate` once for each pending query with a ticket below `before`. */
  markLate(before: number, onLate: (ticket: number) => void): void {
    this.#late = Math.max(this.#late, this.#head - RING_SIZE);
    while (this.#late < before) {
      const ticket = this.#late++;
      if (this.isWaiting(ticket)) onLate(ticket);
    }
  }

  /** Calls `visit` once for each pending query with a ticket below `before`. */
  visitOlder(before: number, visit: (ticket: number) => void): void {
    this.#visited = Math.max(this.#visited, this.#tail, this.#head - RING_SIZE);
    while (this.#visited < before) {
      const ticket = this.#visited++;
      if (this.isWaiting(ticket)) visit(ticket);
    }
  }

  /** Removes the queries that were sent before `beforeMs`, and returns their number. */
  expire(beforeMs: number): number {
    let expired = 0;
    this.#tail = Math.max(this.#tail, this.#head - RING_SIZE);
    for (; this.#tail < this.#head; this.#tail++) {
      const place = this.#tail % RING_SIZE;
      if (this.#ticket[place] !== this.#tail) continue;
      if ((this.#sentMs[place] ?? 0) >= beforeMs) break;
      this.giveUp(this.#tail);
      expired++;
    }
    return expired;
  }

  /** Removes a pending query that was not answered. */
  giveUp(ticket: number): void {
    const counterpart = this.counterpart(ticket);
    const waitsElsewhere = counterpart?.inFlight.isWaiting(counterpart.ticket) ?? false;
    this.settle(ticket);
    if (!waitsElsewhere) this.#onUnanswered(this.userZone(ticket), ticket);
  }

  #take(): number {
    const ticket = this.#head++;
    const place = ticket % RING_SIZE;
    const before = this.#ticket[place] as number; // index below RING_SIZE
    if (before !== 0) this.giveUp(before);
    this.#ticket[place] = ticket;
    this.#waiting++;
    return ticket;
  }
}
