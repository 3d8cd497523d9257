/**
 * Queries for known names that wait for an answer, if another program reports queries and answers with its own times.
 * The table has a fixed size. A query is not stored while another one is in its slot. The slots are pseudo-random, so
 * the stored queries are a fair sample.
 */
import { type Question, rcodeOf } from '../protocol/index.ts';
import type { ResponseTimes } from './responseTimes.ts';

const SLOT_BITS = 10;
const SLOTS = 1 << SLOT_BITS;
/** Odd number close to 2^32 divided by the golden ratio, which distributes keys evenly (Knuth, volume 3, 6.4). */
const SPREAD = 0x9e3779b1;
const CLASS_IN = 1;
const RCODE_SERVFAIL = 2;
/** A query without an answer after this time counts as unanswered. */
const ANSWER_MS = 500;
/**
 * If no report arrives for this time, every query without an answer counts as unanswered. Longer than dnsdist keeps
 * reports in its buffer (1 s).
 */
const SILENCE_MS = 2000;
/** Any `userZone` of a known name. */
const KNOWN = 1;

type Asked = Pick<Question, 'hashHigh' | 'hashLow' | 'id' | 'class' | 'isUnusual'>;

export class PendingTimes {
  readonly #times: ResponseTimes;
  readonly #hashHigh = new Uint32Array(SLOTS);
  readonly #hashLow = new Uint32Array(SLOTS);
  /** Transaction ID and port of the client. */
  readonly #client = new Uint32Array(SLOTS);
  /** Time of each query, by the clock of the reporting program. 0 if the slot is free. */
  readonly #sentMs = new Float64Array(SLOTS);
  /** Time of the last report, by the clock of the reporting program and by our own. */
  #reportedMs = 0;
  #heardMs = 0;

  constructor(times: ResponseTimes) {
    this.#times = times;
  }

  /** Notes that a report of this time has arrived. Call for each report. */
  note(reportedMs: number, nowMs: number): void {
    this.#reportedMs = reportedMs;
    this.#heardMs = nowMs;
  }

  /** Stores a query. Does nothing if `userZone` is 0 (`QueryPolicy.userZone`), i.e. for unknown names. */
  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is allocated
  sent(question: Asked, port: number, userZone: number, sentMs: number): void {
    if (userZone === 0 || question.class !== CLASS_IN || question.isUnusual) return;
    const client = clientOf(question, port);
    const slot = slotOf(question, client);
    if (this.#sentMs[slot] !== 0) return;
    this.#hashHigh[slot] = question.hashHigh;
    this.#hashLow[slot] = question.hashLow;
    this.#client[slot] = client;
    this.#sentMs[slot] = sentMs;
  }

  // biome-ignore lint/complexity/useMaxParams: called for each packet: no object is allocated
  answered(question: Asked, port: number, answer: Uint8Array, answeredMs: number): void {
    const sentMs = this.#take(question, port);
    if (sentMs === 0) return;
    const timeMs = answeredMs - sentMs;
    if (timeMs < ANSWER_MS && rcodeOf(answer) !== RCODE_SERVFAIL) this.#times.answered(KNOWN, timeMs);
    else this.#times.unanswered(KNOWN);
  }

  /** Removes a query without counting it, because no server received it. */
  answeredFromCache(question: Asked, port: number): void {
    this.#take(question, port);
  }

  /** Frees the slot of a query and returns the time of the query. Returns 0 if the query is not stored. */
  #take(question: Asked, port: number): number {
    const client = clientOf(question, port);
    const slot = slotOf(question, client);
    if (this.#client[slot] !== client) return 0;
    if (this.#hashHigh[slot] !== question.hashHigh || this.#hashLow[slot] !== question.hashLow) return 0;
    const sentMs = this.#sentMs[slot] as number; // index below SLOTS
    this.#sentMs[slot] = 0;
    return sentMs;
  }

  /**
   * Counts the queries that were not answered in time, by the clock of the reporting program: reports may arrive late,
   * but in their order. Call every second.
   */
  expire(nowMs: number): void {
    const isSilent = nowMs - this.#heardMs >= SILENCE_MS;
    for (let slot = 0; slot < SLOTS; slot++) {
      const sentMs = this.#sentMs[slot] as number; // index below SLOTS
      if (sentMs === 0 || (!isSilent && this.#reportedMs - sentMs < ANSWER_MS)) continue;
      this.#sentMs[slot] = 0;
      this.#times.unanswered(KNOWN);
    }
  }
}

const clientOf = ({ id }: Asked, port: number): number => ((id << 16) | port) >>> 0;

const slotOf = ({ hashLow }: Asked, client: number): number =>
  Math.imul(hashLow ^ client, SPREAD) >>> (32 - SLOT_BITS);
