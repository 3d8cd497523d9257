/**
 * The questions that wait for an answer: a ring of fixed size in the order they were sent. All wait equally long, so the
 * oldest stands at the tail, and when the ring is full it gives way: memory is bounded whatever the servers do.
 */
import type { Question } from '../../protocol/index.ts';

/** At 2 s of waiting this is 32,000 questions a second to servers that answer none of them. */
export const RING_SIZE = 65_536;

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
  #head = 1;
  #tail = 1;
  #waiting = 0;

  get waiting(): number {
    return this.#waiting;
  }

  /** Notes a question and who asked it. Returns its ticket; in a full ring the oldest gives way. */
  add(question: Question, address: string, port: number, frontend: number, nowMs: number): number {
    const ticket = this.#head++;
    const place = ticket % RING_SIZE;
    if (this.#ticket[place] !== 0) this.#waiting--;
    this.#ticket[place] = ticket;
    this.#clientAddress[place] = address;
    this.#clientPort[place] = port;
    this.#clientId[place] = question.id;
    this.#frontend[place] = frontend;
    this.#hashHigh[place] = question.hashHigh;
    this.#hashLow[place] = question.hashLow;
    this.#type[place] = question.type;
    this.#class[place] = question.class;
    this.#sentMs[place] = nowMs;
    this.#waiting++;
    return ticket;
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

  clientPort(ticket: number): number {
    return this.#clientPort[ticket % RING_SIZE] ?? 0;
  }

  clientId(ticket: number): number {
    return this.#clientId[ticket % RING_SIZE] ?? 0;
  }

  frontend(ticket: number): number {
    return this.#frontend[ticket % RING_SIZE] ?? 0;
  }

  /** The question was answered. */
  settle(ticket: number): void {
    this.#ticket[ticket % RING_SIZE] = 0;
    this.#waiting--;
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
}
