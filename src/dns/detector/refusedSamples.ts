/**
 * A fair sample of the queries that an attack costs: of all that are noted between two looks each is kept with the same chance
 * (reservoir sampling, Vitter's algorithm R, 1985), however many there are and however they are timed. In memory of its own: no
 * object is made for a packet.
 */
import { HEADER_BYTES } from '../protocol/index.ts';

/** Kept between two looks. The standard error of a share of a half is 3 %. */
const SLOTS = 256;
const MAX_NAME_BYTES = 255;
/** The longest text of an IPv6 address; an interface behind it is cut off. */
const MAX_CLIENT_BYTES = 45;
const TYPE_AND_CLASS_BYTES = 4;
const NAME = 4;
const CLIENT = NAME + MAX_NAME_BYTES;
const SLOT_BYTES = CLIENT + MAX_CLIENT_BYTES;

/** What was kept, as it crosses from a thread. */
export interface SampleBatch {
  /** How many were noted. */
  readonly seen: number;
  readonly bytes: Uint8Array;
}

/** One that was kept. */
export interface RefusedQuery {
  /** In wire form. */
  readonly name: Uint8Array;
  readonly type: number;
  /** The text of its address. */
  readonly client: string;
  /** How many queries it stands for. */
  readonly weight: number;
}

export class RefusedSamples {
  readonly #bytes = new Uint8Array(SLOTS * SLOT_BYTES);
  readonly #random: () => number;
  #seen = 0;

  /** `random` gives numbers from 0 to below 1. */
  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Notes a query whose question section ends at `questionEnd`; it was read before. */
  note(packet: Uint8Array, questionEnd: number, client: string): void {
    const seen = ++this.#seen;
    const slot = seen <= SLOTS ? seen - 1 : Math.floor(this.#random() * seen);
    if (slot >= SLOTS) return;
    this.#writeName(slot * SLOT_BYTES, packet, questionEnd);
    this.#writeClient(slot * SLOT_BYTES, client);
  }

  /** What was kept since the last call; undefined where nothing was noted. */
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

/** The queries of a batch. */
export function* samplesIn({ seen, bytes }: SampleBatch): Generator<RefusedQuery> {
  const weight = seen / Math.max(1, Math.floor(bytes.length / SLOT_BYTES));
  for (let at = 0; at + SLOT_BYTES <= bytes.length; at += SLOT_BYTES)
    yield {
      name: bytes.slice(at + NAME, at + NAME + (bytes[at] ?? 0)),
      type: ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0),
      client: String.fromCharCode(...bytes.subarray(at + CLIENT, at + CLIENT + (bytes[at + 1] ?? 0))),
      weight,
    };
}
