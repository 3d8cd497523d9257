import { describe, expect, it } from 'vitest';
import { Random } from '../../../test/support/random.ts';
import { FloodgateRpcError, MissingBlocksError, ReplacedTooDeepError } from './errors.ts';
import { type LiveTrace, type SubscribeDependencies, subscribeTraces } from './subscribeTraces.ts';
import type { AddressTracesPage, AddressTracesParams, Trace } from './types.ts';

interface Block {
  readonly hash: string;
  readonly traces: readonly Trace[];
}

/**
 * A chain that changes at random, as seen through a gateway: pages of one range, and errors if a page's block was
 * replaced.
 */
class ChangingChain {
  readonly blocks: Block[] = [];
  readonly #random: Random;
  #made = 0;
  #rests = false;

  constructor(random: Random) {
    this.#random = random;
    this.grow(3 + random.below(5));
  }

  get head(): number {
    return this.blocks.length - 1;
  }

  get traces(): readonly Trace[] {
    return this.blocks.flatMap(({ traces }) => traces);
  }

  grow(count: number): void {
    for (let i = 0; i < count; i++) {
      const hash = `0x${++this.#made}`;
      const traces = this.#random.chance(0.5) ? this.#random.below(5) : 0;
      const blockNumber = this.blocks.length;
      // Traces of a block can be identical, as uncle rewards are.
      const trace = { blockHash: hash, blockNumber, type: 'call' } as Trace; // only the members under test
      this.blocks.push({ hash, traces: Array.from({ length: traces }, () => ({ ...trace })) });
    }
  }

  replace(depth: number): void {
    this.blocks.length -= Math.min(depth, this.blocks.length - 1);
  }

  /** Stops changes, after growing beyond any earlier length. */
  rest(): void {
    this.grow(100);
    this.#rests = true;
  }

  change(): void {
    if (this.#rests) return;
    if (this.#random.chance(0.3)) this.replace(1 + this.#random.below(6));
    this.grow(this.#random.below(4));
  }

  async *pages({
    fromBlock = 0,
    order,
    limit = 100,
  }: AddressTracesParams): AsyncGenerator<AddressTracesPage, void> {
    const first = Number(fromBlock);
    const isLate = order === 'asc' && !this.#rests && this.#random.chance(0.3);
    const indexed = this.head - (isLate ? this.#random.below(3) : 0);
    const range = { fromBlock: first, toBlock: indexed };
    let behind: { block: number; hash: string; index: number } | undefined;
    for (;;) {
      if (this.#random.chance(0.05)) throw new Error('no connection');
      if (first > this.head || range.toBlock > this.head) throw rpcError(-32602);
      // The index lags behind the head. A range that starts above the index extends to the head and is entirely
      // missing.
      if (first > indexed) {
        yield {
          traces: [],
          cursor: null,
          range: { ...range, toBlock: this.head },
          missing: [[first, this.head]],
        };
        return;
      }
      if (behind !== undefined && this.blocks[behind.block]?.hash !== behind.hash) throw rpcError(-32001);
      const asked = this.blocks
        .slice(first, range.toBlock + 1)
        .flatMap(({ traces }) => traces.map((trace, index) => ({ trace, index })));
      if (order !== 'asc') asked.reverse();
      const at = behind;
      const left = asked.filter(
        ({ trace, index }) =>
          at === undefined ||
          trace.blockNumber > at.block ||
          (trace.blockNumber === at.block && index > at.index),
      );
      // A short or empty page is not the last one.
      const page = left.slice(0, order === 'asc' ? this.#random.below(5) : Number(limit));
      const last = page.at(-1);
      if (last !== undefined)
        behind = { block: last.trace.blockNumber, hash: last.trace.blockHash, index: last.index };
      const cursor = page.length < left.length ? 'more' : null;
      yield { traces: page.map(({ trace }) => trace), cursor, range, missing: [] };
      if (cursor === null) return;
      if (this.#random.chance(0.3)) this.change();
    }
  }
}

const rpcError = (code: number): Error => new FloodgateRpcError({ code, message: 'no' });

/** Follows the chain for 60 heads, then until it stops changing. Returns the yielded traces. */
async function followed(chain: ChangingChain, random: Random, fromBlock?: number): Promise<LiveTrace[]> {
  const reported: LiveTrace[] = [];
  const end = new AbortController();
  let heads = 0;
  const dependencies: SubscribeDependencies = {
    pages: (params) => chain.pages(params),
    openHeads: () => ({
      async next() {
        if (heads++ < 60) chain.change();
        else if (heads === 61) chain.rest();
        // By now the subscriber had enough reads to catch up, despite connection errors.
        else if (heads > 120) end.abort(new Error('enough'));
        end.signal.throwIfAborted();
      },
      close: () => undefined,
    }),
  };
  try {
    const wanted = { address: '0x', ...(fromBlock !== undefined && { fromBlock }) } as const;
    for await (const trace of subscribeTraces(wanted, { signal: end.signal }, dependencies)) {
      reported.push(trace);
      if (random.chance(0.1)) chain.change();
    }
  } catch (error) {
    if (!end.signal.aborted) throw error;
  }
  return reported;
}

/**
 * Returns the traces that were not removed. Fails if a trace is yielded twice, removed before it was yielded, or out of
 * order.
 */
function standing(reported: readonly LiveTrace[]): Trace[] {
  const stands: Trace[] = [];
  for (const { removed, ...trace } of reported) {
    const newest = stands.at(-1);
    if (removed) {
      expect(newest).toEqual(trace);
      stands.pop();
    } else {
      if (newest !== undefined && newest.blockHash !== trace.blockHash)
        expect(trace.blockNumber).toBeGreaterThan(newest.blockNumber);
      stands.push(trace as Trace); // `removed` was stripped above
    }
  }
  return stands;
}

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed);

describe('a subscription', () => {
  it('yields each trace once and in order, and removes replaced traces, for any changes of the chain', async () => {
    let removed = 0;
    for (const seed of SEEDS) {
      const random = new Random(seed);
      const chain = new ChangingChain(random);
      const reported = await followed(chain, random, 0).catch((error: unknown) => {
        // The first read can fail: errors are thrown until the subscription has started.
        if (error instanceof Error && error.message === 'no connection') return undefined;
        throw error;
      });
      if (reported === undefined) continue;
      expect(standing(reported), `seed ${seed}`).toEqual(chain.traces);
      removed += reported.filter((trace) => trace.removed).length;
    }
    expect(removed).toBeGreaterThan(SEEDS.length);
  });

  it('can start at a block above the head', async () => {
    for (const seed of SEEDS.slice(0, 20)) {
      const random = new Random(seed);
      const chain = new ChangingChain(random);
      const fromBlock = chain.head + 1 + random.below(5);
      const reported = await followed(chain, random, fromBlock).catch(() => undefined);
      if (reported === undefined) continue;
      const later = chain.traces.filter(({ blockNumber }) => blockNumber >= fromBlock);
      expect(standing(reported), `seed ${seed}`).toEqual(later);
    }
  });

  it.each([-1, 1.5, '0xg', 2n ** 60n] as const)('rejects fromBlock %s', async (fromBlock) => {
    const heads = { next: async () => undefined, close: () => undefined };
    const dependencies = { pages: page([1]), openHeads: () => heads };
    const traces = subscribeTraces({ address: '0x', fromBlock: fromBlock as number }, {}, dependencies);
    await expect(traces.next()).rejects.toThrow(`fromBlock is ${fromBlock}`);
  });

  it('starts after the newest block if fromBlock is not given', async () => {
    for (const seed of SEEDS) {
      const random = new Random(seed);
      const chain = new ChangingChain(random);
      const { head } = chain;
      const hash = chain.blocks[head]?.hash;
      const reported = await followed(chain, random).catch(() => []);
      for (const { blockNumber, blockHash } of reported) {
        expect(blockNumber).toBeGreaterThanOrEqual(head);
        // The head can change before the subscription reads it.
        if (blockNumber === head) expect(blockHash).not.toBe(hash);
      }
    }
  });

  const start = (pages: SubscribeDependencies['pages'], next: () => Promise<void>, onError?: () => void) =>
    subscribeTraces(
      { address: '0x', fromBlock: 0 },
      { onError },
      { pages, openHeads: () => ({ next, close: () => undefined }) },
    );
  const page = (numbers: readonly number[], missing: AddressTracesPage['missing'] = []) =>
    async function* (): AsyncGenerator<AddressTracesPage, void> {
      const traces = numbers.map((blockNumber) => ({ blockNumber, blockHash: `0x${blockNumber}` }) as Trace);
      yield { traces, cursor: null, range: { fromBlock: 0, toBlock: 9_999 }, missing };
    };

  it('ends with an error if blocks are missing in the index', async () => {
    const traces = start(page([1], [[5, 7]]), async () => undefined);
    const error = await traces.next().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MissingBlocksError);
    expect(error).toMatchObject({ missing: [[5, 7]], message: expect.stringContaining('5 to 7') });
  });

  it('removes no traces while the index lags behind the head', async () => {
    let asked = 0;
    const pages: SubscribeDependencies['pages'] = async function* () {
      asked++;
      yield* (asked < 3 ? page([1]) : asked < 5 ? page([], [[1, 9_999]]) : page([1, 2]))();
    };
    const traces = start(pages, async () => undefined);
    expect((await traces.next()).value).toMatchObject({ blockNumber: 1, removed: false });
    expect((await traces.next()).value).toMatchObject({ blockNumber: 2, removed: false });
  });

  it('ends with an error if a reorg replaced more blocks than it keeps', async () => {
    let pages = page([1, 2, 1_000]);
    const traces = start(
      () => pages(),
      async () => {
        pages = page([]);
      },
    );
    const reported: [number, boolean][] = [];
    const error = await (async () => {
      for await (const { blockNumber, removed } of traces) reported.push([blockNumber, removed]);
    })().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ReplacedTooDeepError);
    expect(reported).toEqual([
      [1, false],
      [2, false],
      [1_000, false],
      [1_000, true],
    ]);
  });

  it.each([-32000, -32601])(
    'ends with an error if the gateway rejects the method or key (%i)',
    async (code) => {
      let asked = 0;
      const pages: SubscribeDependencies['pages'] = async function* () {
        if (asked++ > 1) throw rpcError(code);
        yield* page([1])();
      };
      const traces = start(pages, async () => undefined);
      await traces.next();
      await expect(traces.next()).rejects.toMatchObject({ code });
    },
  );

  it('continues after any other error, and reports it to onError', async () => {
    let asked = 0;
    const errors: unknown[] = [];
    const pages: SubscribeDependencies['pages'] = async function* () {
      if (++asked === 3) throw rpcError(-32005);
      yield* page(asked < 4 ? [1] : [1, 2])();
    };
    const traces = start(
      pages,
      async () => undefined,
      () => errors.push(asked),
    );
    expect((await traces.next()).value).toMatchObject({ blockNumber: 1, removed: false });
    expect((await traces.next()).value).toMatchObject({ blockNumber: 2, removed: false });
    expect(errors).toEqual([3]);
  });
});
