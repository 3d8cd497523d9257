/**
 * The questions that wait for an answer: a ring of fixed size in the order they were sent. All wait equally long, so the
 * oldest stands at the tail, and when the ring is full it gives way: memory is bounded whatever the servers do.
 */
import type { RemoteInfo } from 'node:dgram';
import type { Question } from '../../protocol/index.ts';

/** At 2 s of waiting this is 32,000 questions a second to servers that answer none of them. */
export const RING_SIZE = 65_536;

/** Who asked. */
export type Client = Pick<RemoteInfo, 'address' | 'port'>;

/** The same question at another server: the first right answer settles both. */
export interface Counterpart {
  readonly inFlight: InFlight;
  readonly ticket: number;
  /** The SERVFAIL that the other server answered: what the client gets where this one answers nothing. */
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
  /** Which question a place holds, counted from 1; 0 for none. A ticket tells a place's questions apart. */
  readonly #ticket = new Float64Array(RING_SIZE);
  /** Queries that may be asked of another server, until they are answered or have been. */
  readonly #kept = new Array<Buffer | undefined>(RING_SIZE).fill(undefined);
  /** Of the few questions that are asked twice. */
  readonly #counterparts = new Map<number, Counterpart>();
  #head = 1;
  #tail = 1;
  /** All before it are answered or late. */
  #late = 1;
  #waiting = 0;

  get waiting(): number {
    return this.#waiting;
  }

  /** The ticket that the next question gets. */
  get next(): number {
    return this.#head;
  }

  /** Notes a question and who asked it. Returns its ticket; in a full ring the oldest gives way. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is made
  add(question: Question, { address, port }: Client, frontend: number, nowMs: number): number {
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
    return ticket;
  }

  /** Notes a question that waits in another ring already. */
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
    return ticket;
  }

  /** Keeps the query, to ask another server. */
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

  /** Ticket 0 is nobody's. */
  isWaiting(ticket: number): boolean {
    return ticket !== 0 && this.#ticket[ticket % RING_SIZE] === ticket;
  }

  /** Whether an answer's question is the one that was sent under this ticket. */
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

  /** 0 for a probe: no client has it. */
  clientPort(ticket: number): number {
    return this.#clientPort[ticket % RING_SIZE] ?? 0;
  }

  clientId(ticket: number): number {
    return this.#clientId[ticket % RING_SIZE] ?? 0;
  }

  frontend(ticket: number): number {
    return this.#frontend[ticket % RING_SIZE] ?? 0;
  }

  /** The question was answered, or nobody waits for it any more. */
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

  /** What was sent before the question with this ticket, and still waits, is late from now on. Shows each once. */
  makeLate(before: number, onLate: (ticket: number) => void): void {
    this.#late = Math.max(this.#late, this.#head - RING_SIZE);
    while (this.#late < before) {
      const ticket = this.#late++;
      if (this.isWaiting(ticket)) onLate(ticket);
    }
  }

  /** Gives up what was sent before this time. Returns how many questions that were. */
  expire(beforeMs: number): number {
    let expired = 0;
    this.#tail = Math.max(this.#tail, this.#head - RING_SIZE);
    for (; this.#tail < this.#head; this.#tail++) {
      const place = this.#tail % RING_SIZE;
      if (this.#ticket[place] !== this.#tail) continue;
      if ((this.#sentMs[place] ?? 0) >= beforeMs) break;
      this.settle(this.#tail);
      expired++;
    }
    return expired;
  }

  #take(): number {
    const ticket = this.#head++;
    const place = ticket % RING_SIZE;
    const before = this.#ticket[place] as number; // a place of the ring
    if (before !== 0) this.settle(before);
    this.#ticket[place] = ticket;
    this.#waiting++;
    return ticket;
  }
}
