import { type Coding, codingNamed, DECOMPRESSORS } from './coding.ts';

/** What a body was: whole, more than it may be, or not what its header says. */
export type Decompressed =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'tooLarge' }
  | { readonly kind: 'malformed' };

/** Codings of bodies that are taken, as `Accept-Encoding` of an answer tells them. */
export const TAKEN_CODINGS = [...DECOMPRESSORS.keys()].join(', ');

/** How a body is coded, by its Content-Encoding: `undefined` for not at all, `unknown` for what is not taken, or for more than one coding. */
export function bodyCoding(header: string | undefined): Coding | 'unknown' | undefined {
  if (header === undefined) return undefined;
  const names = header
    .split(',')
    .map((name) => codingNamed(name.trim()))
    .filter((name) => name !== 'identity' && name !== '');
  const [name, ...more] = names;
  if (name === undefined) return undefined;
  const coding = [...DECOMPRESSORS.keys()].find((known) => known === name);
  return coding === undefined || more.length > 0 ? 'unknown' : coding;
}

export interface DecompressorOptions {
  readonly maxBytes: number;
  /** Bodies that are decompressed at a time; others wait, compressed. */
  readonly maxAtOnce: number;
}

/** A body that is to be decompressed. */
export interface CodedBody {
  readonly coding: Coding;
  readonly bytes: Uint8Array;
  /** Nobody waits for it any more. */
  readonly isOver: () => boolean;
}

interface Waiting {
  readonly body: CodedBody;
  readonly done: (result: Decompressed) => void;
}

/**
 * Decompresses bodies outside of this thread, one piece of 16 KiB after the other: a bomb is left alone once it is above the limit, so that
 * it costs what a body of that size costs.
 */
export class Decompressor {
  readonly #options: DecompressorOptions;
  readonly #waiting: Waiting[] = [];
  #running = 0;

  constructor(options: DecompressorOptions) {
    this.#options = options;
  }

  /** Calls back once; not at all where nobody waits any more. */
  decompress(body: CodedBody, done: (result: Decompressed) => void): void {
    this.#waiting.push({ body, done });
    this.#goOn();
  }

  #goOn(): void {
    while (this.#running < this.#options.maxAtOnce) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      if (!next.body.isOver()) this.#run(next);
    }
  }

  #run({ body: { coding, bytes }, done }: Waiting): void {
    this.#running++;
    const options = { maxOutputLength: this.#options.maxBytes, info: true } as const;
    DECOMPRESSORS.get(coding)?.(bytes, options, (error, result) => {
      this.#running--;
      this.#goOn();
      if (error !== null) done({ kind: isTooLarge(error) ? 'tooLarge' : 'malformed' });
      // What stands behind the end is no part of the body, and a sign that something is wrong.
      else if (result.engine.bytesWritten !== bytes.length) done({ kind: 'malformed' });
      else done({ kind: 'whole', bytes: result.buffer });
    });
  }
}

const isTooLarge = (error: Error): boolean => 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
