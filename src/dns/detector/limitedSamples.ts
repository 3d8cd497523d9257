/**
 * Draws a random sample of the queries that were limited since the previous `take`. Each query is selected with equal
 * probability: reservoir sampling (Vitter, algorithm R, 1985). Memory is preallocated, so that no object is allocated
 * per packet.
 */
import { HEADER_BYTES } from '../protocol/index.ts';

/** Maximum number of queries in a sample. A share of 50 % then has a standard error of 3 %. */
const SLOTS = 256;
const MAX_NAME_BYTES = 255;
/** Length of the longest text form of an IPv6 address. Longer text, with a zone identifier (`%eth0`), is cut off. */
const MAX_CLIENT_BYTES = 45;
const TYPE_AND_CLASS_BYTES = 4;
const NAME = 4;
const CLIENT = NAME + MAX_NAME_BYTES;
const SLOT_BYTES = CLIENT + MAX_CLIENT_BYTES;

/** A sample of limited queries, in the form in which it is passed between threads. */
export interface SampleBatch {
  /** Number of limited queries from which the sample was drawn. */
  readonly seen: number;
  readonly bytes: Uint8Array;
}

export interface LimitedQuery {
  /** Queried name in wire form. */
  readonly name: Uint8Array;
  readonly type: number;
  readonly client: string;
  /** Number of limited queries that this sampled query represents. */
  readonly weight: number;
}

export class LimitedSamples {
  readonly #bytes = new Uint8Array(SLOTS * SLOT_BYTES);
  readonly #random: () => number;
  #seen = 0;

  /** `random` returns a number in [0, 1). */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /**
   * Counts a limited query, and may add it to the sample. `packet` must be a valid query whose question section ends
   * at offset `questionEnd`.
   */
  note(packet: Uint8Array, questionEnd: number, client: string): void {
    const seen = ++this.#seen;
    const slot = seen <= SLOTS ? seen - 1 : Math.floor(this.#random() * seen);
    if (slot >= SLOTS) return;
    this.#writeName(slot * SLOT_BYTES, packet, questionEnd);
    this.#writeClient(slot * SLOT_BYTES, client);
  }

  /** Returns a sample of the queries limited since the previous call, or undefined if no query was limited. */
  take(): SampleBatch | undefined {
    if (this.#seen === 0) return undefined;
    const seen = this.#seen;
    this.#seen = 0;
    return { seen, bytes: this.#bytes.slice(0, Math.min(seen, SLOTS) * SLOT_BYTES) };
  }

  #writeName(at: number, packet: Uint8Array, questionEnd: number): void {
    const bytes = this.#bytes;
    const nameEnd = questionEnd - TYPE_AND_CLASS_BYTES;
    const nameBytes = Math.min(MAX_NAME_BYTES, nameEnd - HEADER_BYTES);
    bytes[at] = nameBytes;
    bytes[at + 2] = packet[nameEnd] ?? 0;
    bytes[at + 3] = packet[nameEnd + 1] ?? 0;
    for (let i = 0; i < nameBytes; i++) bytes[at + NAME + i] = packet[HEADER_BYTES + i] ?? 0;
  }

  #writeClient(at: number, client: string): void {
    const clientBytes = Math.min(MAX_CLIENT_BYTES, client.length);
    this.#bytes[at + 1] = clientBytes;
    for (let i = 0; i < clientBytes; i++) this.#bytes[at + CLIENT + i] = client.charCodeAt(i);
  }
}

/** Yields the queries of a sample. */
export function* samplesIn({ seen, bytes }: SampleBatch): Generator<LimitedQuery> {
  const weight = seen / Math.max(1, Math.floor(bytes.length / SLOT_BYTES));
  for (let at = 0; at + SLOT_BYTES <= bytes.length; at += SLOT_BYTES)
    yield {
      name: bytes.slice(at + NAME, at + NAME + (bytes[at] ?? 0)),
      type: ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0),
      client: String.fromCharCode(...bytes.subarray(at + CLIENT, at + CLIENT + (bytes[at + 1] ?? 0))),
      weight,
    };
}
