/**
 * Fixed-size ring buffer of one server's pending queries in sending order. All queries have the same timeout, so the
 * query at the tail expires first. A full ring evicts that query, so memory is bounded.
 */
import type { RemoteInfo } from 'node:dgram';
import type { Question } from '../../../protocol/index.ts';

/** Ring capacity: enough for 32,000 unanswered queries per second at a timeout of 2 s. */
export const RING_SIZE = 65_536;

export type Client = Pick<RemoteInfo, 'address' | 'port'>;

/** Copy of a pending query that was sent to another server. The first valid answer completes both queries. */
export interface Counterpart {
  readonly inFlight: InFlight;
  readonly ticket: number;
  /** SERVFAIL answer from the other server. It is sent to the client if this server does not answer. */
  readonly servfail?: Buffer | undefined;
}

export class InFlight {
  readonly #clientAddress: string[] = new Array<string>(RING_SIZE).fill('');
  readonly #clientPort = new Uint16Array(RING_SIZE);
  readonly #clientId = new Uint16Array(RING_SIZE);
  readonly #frontend = new Uint16Array(RING_SIZE);
  readonly #hashHigh = new Uint32Array(RING_SIZE);
  readonly #hashLow = new Uint32Array(RING_SIZE);
  readonly #type = new Uint16Array(RING_SIZE);
  readonly #class = new Uint16Array(RING_SIZE);
  readonly #sentMs = new Float64Array(RING_SIZE);
  /** Value of `QueryPolicy.userZone` for each query. */
  readonly #userZone = new Uint16Array(RING_SIZE);
  /**
   * For each slot, the ticket of its query, or 0 if the slot is free. Tickets are sequence numbers from 1. They
   * distinguish the queries that use a slot one after the other.
   */
  readonly #ticket = new Float64Array(RING_SIZE);
  /** Query packets kept for a retry with another server, until answered or retried. */
  readonly #kept = new Array<Buffer | undefined>(RING_SIZE).fill(undefined);
  /** Counterparts by ticket. Contains only queries that were sent to two servers. */
  readonly #counterparts = new Map<number, Counterpart>();
  #head = 1;
  #tail = 1;
  /** First ticket that is not late yet. Queries with lower tickets are answered or late. */
  #late = 1;
  #waiting = 0;
  readonly #onUnanswered: (userZone: number) => void;

  /** `onUnanswered` receives the `userZone` of an expired or evicted query unless another server may answer it. */
  constructor(onUnanswered: (userZone: number) => void = () => undefined) {
    this.#onUnanswered = onUnanswered;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get next(): number {
    return this.#head;
  }

  /** Returns the ticket of the stored query. If the ring is full, the oldest query is evicted. */
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
    this.#sentMs[place] = nowMs;
    this.#userZone[place] = userZone;
    return ticket;
  }

  /** Stores a copy of a query that is still pending in the ring `first`. Returns the ticket of the copy. */
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
    this.#sentMs[place] = nowMs;
    this.#userZone[place] = first.userZone(firstTicket);
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

  userZone(ticket: number): number {
    return this.#userZone[ticket % RING_SIZE] ?? 0;
  }

  /** Frees the slot of a query that was answered or given up. */
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

  /** Removes the queries that were sent before `beforeMs`, and returns their number. */
  expire(beforeMs: number): number {
    let expired = 0;
    this.#tail = Math.max(this.#tail, this.#head - RING_SIZE);
    for (; this.#tail < this.#head; this.#tail++) {
      const place = this.#tail % RING_SIZE;
      if (this.#ticket[place] !== this.#tail) continue;
      if ((this.#sentMs[place] ?? 0) >= beforeMs) break;
      this.#giveUp(this.#tail);
      expired++;
    }
    return expired;
  }

  #take(): number {
    const ticket = this.#head++;
    const place = ticket % RING_SIZE;
    const before = this.#ticket[place] as number; // index below RING_SIZE
    if (before !== 0) this.#giveUp(before);
    this.#ticket[place] = ticket;
    this.#waiting++;
    return ticket;
  }

  #giveUp(ticket: number): void {
    const counterpart = this.counterpart(ticket);
    const waitsElsewhere = counterpart?.inFlight.isWaiting(counterpart.ticket) ?? false;
    this.settle(ticket);
    if (!waitsElsewhere) this.#onUnanswered(this.userZone(ticket));
  }
}
