import { MissingBlocksError, ReplacedTooDeepError } from './errors.ts';
import type { Heads } from './heads.ts';
import type { CallOptions } from './requester.ts';
import type { AddressTracesPage, AddressTracesParams, Quantity, Trace } from './types.ts';
import { YieldedBlocks } from './yieldedBlocks.ts';

export interface TraceSubscription
  extends Omit<AddressTracesParams, 'fromBlock' | 'toBlock' | 'order' | 'limit' | 'cursor'> {
  /** First block whose traces are yielded, even if they exist already. By default, only new traces are yielded. */
  readonly fromBlock?: Quantity | undefined;
}

/** A new trace, or, with `removed: true`, a trace that was yielded before and that a reorg removed. */
export type LiveTrace = Trace & { readonly removed: boolean };

export interface SubscribeOptions extends CallOptions {
  /** Called with each error after which the subscription continues, such as a lost connection or a timeout. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

type Pages = (params: AddressTracesParams, options: CallOptions) => AsyncGenerator<AddressTracesPage, void>;

export interface SubscribeDependencies {
  readonly pages: Pages;
  readonly openHeads: () => Heads;
}

/** Number of traces per page: the maximum that the gateway permits. */
const PAGE_SIZE = 200;

/** Error codes that end a subscription: API key missing or unknown (-32000), method not served (-32601). */
const FATAL_CODES = [-32000, -32601];

/**
 * Yields each new trace exactly once and in order. At each new head and after a lost connection, it reads the history
 * from the last yielded block on. If a reorg replaced that block, its traces are yielded again with `removed: true`.
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
    const reader = new SubscriptionReader(pages, wanted, start);
    for (;;) {
      try {
        yield* reader.read(signal);
      } catch (error) {
        if (signal?.aborted || isFatal(error)) throw error;
        onError?.(error);
      }
      await heads.next(reader.toBlock, signal);
    }
  } finally {
    heads.close();
  }
}

function isFatal(error: unknown): boolean {
  if (error instanceof MissingBlocksError || error instanceof ReplacedTooDeepError) return true;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return FATAL_CODES.some((lasting) => lasting === code);
}

type SubscriptionFilter = Omit<TraceSubscription, 'fromBlock'>;

interface Start {
  readonly fromBlock: number;
  /** Hash of the newest block at the start, if it has matching traces. They are not yielded: they are not new. */
  readonly knownHash: string | undefined;
  readonly toBlock: number;
}

async function headOf(
  pages: Pages,
  wanted: SubscriptionFilter,
  signal: AbortSignal | undefined,
): Promise<Start> {
  const { value } = await pages({ ...wanted, limit: 1 }, { signal }).next();
  const { range, traces } = value as AddressTracesPage; // there is always a first page
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
  throw new RangeError(`fromBlock is ${fromBlock}; allowed: a block number`);
}

class SubscriptionReader {
  /** Number of the newest indexed block at the last read. */
  toBlock: number;
  readonly #pages: Pages;
  readonly #wanted: SubscriptionFilter;
  readonly #start: Start;
  readonly #known = new YieldedBlocks();

  constructor(pages: Pages, wanted: SubscriptionFilter, start: Start) {
    this.#pages = pages;
    this.#wanted = wanted;
    this.#start = start;
    this.toBlock = start.toBlock;
  }

  /** Yields traces that a reorg removed since the last read, then the new traces. */
  async *read(signal: AbortSignal | undefined): AsyncGenerator<LiveTrace, void> {
    while (!(yield* this.#readFromNewest(signal))) {
      for (const trace of this.#known.removeNewest()) yield { ...trace, removed: true };
      if (this.#known.newest === undefined && this.#known.hasEvicted) throw new ReplacedTooDeepError();
    }
  }

  /** Yields the traces after the last yielded trace. Returns false if a reorg replaced the block of that trace. */
  async *#readFromNewest(signal: AbortSignal | undefined): AsyncGenerator<LiveTrace, boolean> {
    const { newest } = this.#known;
    const start = this.#start;
    // The gateway rejects a range that starts above the head.
    const fromBlock = newest?.number ?? Math.min(start.fromBlock, this.toBlock);
    let toSkip = newest?.traces.length ?? 0;
    for await (const page of this.#pages(
      { ...this.#wanted, fromBlock, order: 'asc', limit: PAGE_SIZE },
      { signal },
    )) {
      const isIndexLagging = this.#isBehind(page);
      for (const trace of page.traces) {
        if (toSkip > 0) {
          if (trace.blockHash !== newest?.hash) return false;
          toSkip--;
        } else if (trace.blockNumber >= start.fromBlock && trace.blockHash !== start.knownHash) {
          this.#known.add(trace);
          yield { ...trace, removed: false };
        }
      }
      if (isIndexLagging) return true;
    }
    return toSkip === 0;
  }

  /** Whether the newest blocks of a page are not indexed yet. Throws MissingBlocksError if others are missing. */
  #isBehind({ missing, range: { toBlock } }: AddressTracesPage): boolean {
    const last = missing.at(-1);
    const isBehind = last?.[1] === toBlock;
    const gaps = isBehind ? missing.slice(0, -1) : missing;
    if (gaps.length > 0) throw new MissingBlocksError(gaps);
    this.toBlock = isBehind ? last[0] - 1 : toBlock;
    return isBehind;
  }
}
