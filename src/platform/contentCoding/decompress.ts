import { type BudgetClient, Slots } from '../budgets/index.ts';
import { type Coding, DECOMPRESSORS, normaliseCodingName } from './coding.ts';

export type Decompressed =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'tooLarge' }
  | { readonly kind: 'malformed' };

/** The supported codings, for the `Accept-Encoding` header of a 415 response. */
export const ACCEPTED_CODINGS = [...DECOMPRESSORS.keys()].join(', ');

/**
 * Returns the coding in a request's Content-Encoding header; undefined for none, `unknown` for an unsupported coding
 * or for several.
 */
export function bodyCoding(header: string | undefined): Coding | 'unknown' | undefined {
  if (header === undefined) return undefined;
  const names = header
    .split(',')
    .map((name) => normaliseCodingName(name.trim()))
    .filter((name) => name !== 'identity' && name !== '');
  const [name, ...more] = names;
  if (name === undefined) return undefined;
  const coding = [...DECOMPRESSORS.keys()].find((known) => known === name);
  return coding === undefined || more.length > 0 ? 'unknown' : coding;
}

/** Maximum number of bodies that are decompressed at the same time. Each uses a libuv thread (of four) and memory. */
const SLOTS = { perClient: 1, total: 2 };

/** Time that a thread needs for a decompressed byte, at about 300 MB/s. Threads also wait, so it is not measured. */
const MS_PER_BYTE = 3e-6;

/** Divides processor time among clients. */
export interface ProcessorTime {
  /** Runs work when the scheduler selects the client. */
  run(client: BudgetClient, work: () => void): void;
  /** Charges a client for work of other threads. */
  charge(client: BudgetClient, ms: number): void;
}

export interface CodedBody {
  readonly coding: Coding;
  readonly bytes: Uint8Array;
  readonly client: BudgetClient;
  /** Whether the client has disconnected and needs no result. */
  readonly isFinished: () => boolean;
}

/**
 * Decompresses request bodies in zlib's thread pool, in chunks of 16 KiB. Stops at the size limit, so that a
 * decompression bomb costs no more than a body of that size. At most two bodies are decompressed concurrently, and
 * one of each client. Others wait in compressed form, and clients are served alternately. The time of the threads is
 * charged to the client.
 */
export class Decompressor {
  readonly #maxBytes: number;
  readonly #time: ProcessorTime;
  readonly #slots = new Slots(SLOTS);

  constructor(maxBytes: number, time: ProcessorTime) {
    this.#maxBytes = maxBytes;
    this.#time = time;
  }

  /** Decompresses a body and calls `done` once, unless the client disconnects before decompression starts. */
  decompress(body: CodedBody, done: (result: Decompressed) => void): void {
    const { client } = body;
    const start = (end: () => void): void => {
      if (body.isFinished()) return end();
      this.#run(body, (result) => {
        const bytes = result.kind === 'whole' ? result.bytes.length : this.#maxBytes;
        this.#time.charge(client, bytes * MS_PER_BYTE);
        end();
        done(result);
      });
    };
    // A client that waits for processor time must not occupy a slot.
    this.#time.run(client, () => this.#slots.take(client, start));
  }

  #run({ coding, bytes }: CodedBody, done: (result: Decompressed) => void): void {
    const options = { maxOutputLength: this.#maxBytes, info: true } as const;
    DECOMPRESSORS.get(coding)?.(bytes, options, (error, result) => {
      if (error !== null) done({ kind: isTooLarge(error) ? 'tooLarge' : 'malformed' });
      // Data after the end of the compressed stream is a sign of corruption.
      else if (result.engine.bytesWritten !== bytes.length) done({ kind: 'malformed' });
      else done({ kind: 'whole', bytes: result.buffer });
    });
  }
}

const isTooLarge = (error: Error): boolean => 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
