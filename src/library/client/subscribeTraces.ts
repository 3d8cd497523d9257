import { MissingBlocksError, ReplacedTooDeepError } from './errors.ts';
import type { Heads } from './heads.ts';
import { KnownBlocks } from './known.ts';
import type { CallOptions } from './requester.ts';
import type { AddressTracesPage, AddressTracesParams, Quantity, Trace } from './types.ts';

/** Which traces are wanted, as of `addressTraces`. */
export interface TraceSubscription
  extends Omit<AddressTracesParams, 'fromBlock' | 'toBlock' | 'order' | 'limit' | 'cursor'> {
  /** All from this block on, then those that come. Left out: those that come. */
  readonly fromBlock?: Quantity | undefined;
}

/** A new trace; with `removed` one that was told before, and that a reorganisation has taken back. */
export type LiveTrace = Trace & { readonly removed: boolean };

export interface SubscribeOptions extends CallOptions {
  /** Hears of what went wrong and is tried again: no connection, no answer. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

type Pages = (params: AddressTracesParams, options: CallOptions) => AsyncGenerator<AddressTracesPage, void>;

export interface SubscribeDependencies {
  readonly pages: Pages;
  readonly openHeads: () => Heads;
}

/** Traces of a page: as many as there may be. */
const PAGE = 200;

/** The gateway lets nobody in, or does not serve the method: that will not be otherwise a moment later. */
const LASTING = [-32000, -32601];

/**
 * Every new trace, once and in order. What is new is asked for: whenever there is a new head, and after a connection was lost, the
 * history goes on from the last block that was told of, so nothing is left out and nothing comes twice. Where that block is not in
 * the history any more it was replaced, and is taken back.
 */
export async function* subscribeTraces(
  { fromBlock, ...wanted }: TraceSubscription,
  { signal, onError }: SubscribeOptions,
  { pages, openHeads }: SubscribeDependencies,
): AsyncGenerator<LiveTrace, never> {
  const heads = openHeads();
  try {
    const head = await headOf(pages, wanted, signal);
    const start =
      fromBlock === undefined ? head : { ...head, fromBlock: numberOf(fromBlock), knownHash: undefined };
    const reader = new Reader(pages, wanted, start);
    for (;;) {
      try {
        yield* reader.read(signal);
      } catch (error) {
        if (signal?.aborted || isLasting(error)) throw error;
        onError?.(error);
      }
      await heads.next(reader.toBlock, signal);
    }
  } finally {
    heads.close();
  }
}

function isLasting(error: unknown): boolean {
  if (error instanceof MissingBlocksError || error instanceof ReplacedTooDeepError) return true;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return LASTING.some((lasting) => lasting === code);
}

type Wanted = Omit<TraceSubscription, 'fromBlock'>;

interface Start {
  readonly fromBlock: number;
  /** Traces of this block are not new. */
  readonly knownHash: string | undefined;
  /** The newest block that is indexed. */
  readonly toBlock: number;
}

/** Begins with what comes behind the newest block that is indexed. */
async function headOf(pages: Pages, wanted: Wanted, signal: AbortSignal | undefined): Promise<Start> {
  const { value } = await pages({ ...wanted, limit: 1 }, { signal }).next();
  const { range, traces } = value as AddressTracesPage; // there always is a first page
  const { toBlock } = range;
  const [newest] = traces;
  return {
    fromBlock: toBlock,
    knownHash: newest?.blockNumber === toBlock ? newest.blockHash : undefined,
    toBlock,
  };
}

function numberOf(fromBlock: Quantity): number {
  const number = Number(fromBlock);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new RangeError(`fromBlock is ${fromBlock}; it must be the number of a block`);
}

class Reader {
  /** The newest block that was indexed at the last reading. */
  toBlock: number;
  readonly #pages: Pages;
  readonly #wanted: Wanted;
  readonly #start: Start;
  readonly #known = new KnownBlocks();

  constructor(pages: Pages, wanted: Wanted, start: Start) {
    this.#pages = pages;
    this.#wanted = wanted;
    this.#start = start;
    this.toBlock = start.toBlock;
  }

  /** What is new, and before it what was replaced. */
  async *read(signal: AbortSignal | undefined): AsyncGenerator<LiveTrace, void> {
    while (!(yield* this.#readOn(signal))) {
      for (const trace of this.#known.takeBack()) yield { ...trace, removed: true };
      if (this.#known.newest === undefined && this.#known.hasForgotten) throw new ReplacedTooDeepError();
    }
  }

  /** Goes on from the newest block that was told of. Returns false where that was replaced. */
  async *#readOn(signal: AbortSignal | undefined): AsyncGenerator<LiveTrace, boolean> {
    const { newest } = this.#known;
    const start = this.#start;
    // A block that is still to come cannot be asked for.
    const fromBlock = newest?.number ?? Math.min(start.fromBlock, this.toBlock);
    let toSkip = newest?.traces.length ?? 0;
    for await (const page of this.#pages(
      { ...this.#wanted, fromBlock, order: 'asc', limit: PAGE },
      { signal },
    )) {
      const isBehind = this.#isBehind(page);
      for (const trace of page.traces) {
        if (toSkip > 0) {
          if (trace.blockHash !== newest?.hash) return false;
          toSkip--;
        } else if (trace.blockNumber >= start.fromBlock && trace.blockHash !== start.knownHash) {
          this.#known.add(trace);
          yield { ...trace, removed: false };
        }
      }
      if (isBehind) return true;
    }
    return toSkip === 0;
  }

  /** Whether the index has not come to the end of a page's range yet. Throws where it lacks blocks before that. */
  #isBehind({ missing, range: { toBlock } }: AddressTracesPage): boolean {
    const last = missing.at(-1);
    const isBehind = last?.[1] === toBlock;
    const gaps = isBehind ? missing.slice(0, -1) : missing;
    if (gaps.length > 0) throw new MissingBlocksError(gaps);
    this.toBlock = isBehind ? last[0] - 1 : toBlock;
    return isBehind;
  }
}
