import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Address,
  AnswerTooLargeError,
  BlockReplacedError,
  type Data,
  type FramesQuery,
  type Hash,
  type HistoryFrame,
  type HistoryPage,
  type HistoryQuery,
  type HistorySummary,
  historyFrameOf,
  INTERNAL_TRANSACTIONS,
  indexBlock,
  JsonWriter,
  MAX_HISTORY_LIMIT,
  type Quantity,
  type Trace,
  type TraceKind,
  type TraceStore,
  transactionOf,
} from '../../src/ethereum/traces/index.ts';
import { historyBlock } from '../support/historyBlock.ts';
import { plainSummary, referenceHistory } from '../support/plainHistory.ts';
import { plainInternalTransactions } from '../support/plainInternalTransactions.ts';
import { Random } from '../support/random.ts';
import { type SyntheticBlock, syntheticAddresses } from '../support/syntheticChain.ts';
import { stringifyTraces } from '../support/textOfTraces.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const BLOCKS_PER_SEGMENT = 1024;
const ADDRESSES = syntheticAddresses(40);
const STRANGER = syntheticAddresses(41).slice(40);
const KINDS: readonly TraceKind[] = [
  'call',
  'callcode',
  'delegatecall',
  'staticcall',
  'create',
  'suicide',
  'reward',
];

interface Walked {
  readonly traces: Trace[];
  readonly missing: [number, number][];
  readonly range: HistoryPage['range'];
  readonly pages: number;
  /** The text of `traces` as it was written. */
  readonly text: string;
}

export interface EngineNotes {
  /** Whether the engine adds up the values of only a few hundred traces at a time, because it reads each of them. */
  readonly sumsFew: boolean;
  /** The contract asks only every n-th query. Higher for engines that are slow or mostly covered by another engine. */
  readonly every: number;
  /** Parts of the contract that another engine with the same code covers. */
  readonly without?: readonly ContractPart[];
}

/**
 * Parts of the contract: call trees of special shapes in addition to random ones, histories of addresses, and
 * histories that need long searches.
 */
type ContractPart = 'shapes' | 'histories' | 'long searches';

/** Tests that histories of addresses must pass on every engine. */
export function addressTracesContract(
  engine: string,
  prepare: () => Promise<{ open(): Promise<TraceStore>; remove(): Promise<void> }>,
  { sumsFew, every, without = [] }: EngineNotes,
): void {
  describe(`histories of addresses on ${engine}`, () => {
    let data: Awaited<ReturnType<typeof prepare>>;
    let store: TraceStore;
    let chain: Chain;

    beforeEach(async () => {
      data = await prepare();
      store = await data.open();
      chain = new Chain(store);
    });
    afterEach(async () => {
      await store.close();
      await data.remove();
    });

    test('equal those of a plain filter, page by page, while blocks are added, replaced and filled in', async () => {
      const random = new Random(31);
      await chain.fillPieces(random);
      for (let round = 0; round < (every < 8 ? 8 : 3); round++) {
        const step = random.below(4);
        if (step === 0) await chain.reorganise(random, random.between(1, 15), random.between(1, 20));
        else if (step === 1) await chain.fillOne(random);
        else await chain.grow(random, random.between(1, 40));
        for (let i = 0; i < 12; i += every)
          await chain.expectPlain(randomQuery(random, chain), async () => {
            // Blocks that are added between two pages are not in the range of the first.
            if (random.chance(0.05)) await chain.grow(random, 1);
          });
      }
      await store.close();
      store = await data.open();
      chain.store = store;
      for (let i = 0; i < 25; i += every) await chain.expectPlain(randomQuery(random, chain));
    });

    test('continue after a block that still exists, and report the block that was replaced', async () => {
      const random = new Random(32);
      await chain.grow(random, 60);
      for (const order of ['asc', 'desc'] as const) {
        const query = { ...historyOf({ order, toBlock: chain.head }), limit: 7 };
        const first = await chain.page(query);
        const { blockNumber } = first.next ?? { blockNumber: -1 };
        const whole = referenceHistory(chain.traces, query, first.range);
        // Only blocks above the cursor are replaced, so in descending order the remaining pages are unchanged.
        const above = order === 'desc' ? blockNumber + 1 : chain.head;
        await chain.reorganise(random, chain.head - above + 1, 3);
        const second = await chain.page({
          ...query,
          ...first.range,
          ...(first.next && { cursor: first.next }),
        });
        if (order === 'desc') expect(second.traces).toEqual(whole.slice(7, 14));
        await chain.reorganise(random, chain.head - blockNumber + 1, 30);
        const again = chain.page({ ...query, ...first.range, ...(first.next && { cursor: first.next }) });
        await expect(again).rejects.toThrow(BlockReplacedError);
        await expect(again).rejects.toMatchObject({ blockNumber });
      }
    });

    test('report exactly the missing blocks', async () => {
      const random = new Random(33);
      await chain.fillPieces(random);
      const range = { fromBlock: 0, toBlock: chain.head + 5_000 };
      for (const order of ['asc', 'desc'] as const) {
        const { missing } = await chain.walk({ ...historyOf({ ...range, order }), addresses: STRANGER });
        expect(missing).toEqual(chain.gaps(range));
      }
    });

    test('report missing ranges on several pages if they do not fit on one', async () => {
      const random = new Random(34);
      for (let number = 1; number < 2_600; number += 2) {
        const block = historyBlock(random, ADDRESSES, { number });
        chain.add(number % 64 === 1 ? block : { header: block.header, traces: [] });
      }
      await chain.flush();
      for (const order of ['asc', 'desc'] as const) {
        const query = historyOf({ fromBlock: 0, toBlock: 2_700, order });
        const walked = await chain.walk({ ...query, addresses: STRANGER });
        expect(walked.missing).toEqual(chain.gaps({ fromBlock: 0, toBlock: 2_700 }));
        // A page ends early at the border between two stores.
        expect([2, 3]).toContain(walked.pages);
        await chain.expectPlain(query);
      }
    });

    if (!without.includes('long searches'))
      test('end a search without matches after a bounded number of reads, with a cursor', async () => {
        const random = new Random(35);
        await chain.grow(random, 50);
        chain.addLarge(random, 90_000);
        await chain.flush();
        const query = historyOf({ toBlock: chain.head, filter: { minValue: 2n, failed: true } });
        const first = await chain.page({ ...query, addresses: ADDRESSES.slice(0, 1) });
        expect(first.traces).toEqual([]);
        expect(first.next?.blockNumber).toBe(chain.head);
        const { traces: none, pages } = await chain.walk({ ...query, addresses: ADDRESSES.slice(0, 1) });
        expect(none).toEqual([]);
        expect(pages).toBeGreaterThan(2);
        expect(pages).toBeLessThan(10);
      });

    test('are split if a page exceeds its byte limit, and rejected if a single trace exceeds it', async () => {
      const random = new Random(36);
      await chain.grow(random, 40);
      const query = historyOf({ toBlock: chain.head, limit: 200 });
      const whole = await chain.walk(query);
      const cut = await chain.walk(query, 12_000);
      expect(cut.traces).toEqual(whole.traces);
      expect(cut.pages).toBeGreaterThan(whole.pages);
      await expect(async () => chain.page(query, 100)).rejects.toThrow(AnswerTooLargeError);
    });

    test('are appended to the existing content of the writer', async () => {
      await chain.grow(new Random(37), 3);
      const json = new JsonWriter();
      const start = Buffer.from('{"traces":');
      json.verbatim(start, 0, start.length);
      await store.addressTraces(historyOf({ toBlock: chain.head }), MAX_BYTES, json);
      expect(JSON.parse(`${json.written().toString()}}`).traces.length).toBeGreaterThan(0);
    });

    test('contain the internal transactions of a plain filter, page by page, for any address', async () => {
      const random = new Random(40);
      await chain.fillPieces(random);
      for (let round = 0; round < 30; round++) {
        if (round % 10 === 5) await chain.reorganise(random, random.between(1, 15), random.between(1, 20));
        if (round % 10 === 7) await chain.fillOne(random);
        if (round % every > 0 && round % 10 !== 6) continue;
        const { fromBlock = 1, toBlock, order, direction } = randomQuery(random, chain);
        const address = random.chance(0.4) ? undefined : random.pick(ADDRESSES);
        const [limit, skip] = [random.between(1, 60), random.below(30)];
        await chain.expectPlainInternal({
          fromBlock,
          toBlock,
          order,
          direction,
          limit,
          skip: Math.min(limit, skip),
          filter: INTERNAL_TRANSACTIONS,
          ...(address !== undefined && { address }),
        });
      }
    });

    test('locate a transaction, and no longer locate it after a reorganisation', async () => {
      const random = new Random(41);
      await chain.grow(random, 20);
      const { traces } = chain;
      for (const { transactionHash, blockNumber, blockHash, traceAddress } of traces) {
        if (transactionHash === null || traceAddress.length > 0 || (every > 1 && random.chance(0.9)))
          continue;
        const inBlock = traces.filter((trace) => trace.blockNumber === blockNumber);
        const traceIndex = inBlock.findIndex((trace) => trace.transactionHash === transactionHash);
        expect(await store.transactionPosition(transactionHash, {})).toEqual({
          blockNumber,
          blockHash,
          traceIndex,
        });
        expect(await store.transactionPosition(transactionHash, { upTo: blockNumber - 1 })).toBeUndefined();
      }
      const last = traces.findLast(({ transactionHash }) => transactionHash !== null);
      await chain.reorganise(random, 20, 1);
      expect(await store.transactionPosition(last?.transactionHash as Hash, {})).toBeUndefined();
    });

    test('have the summary of a plain sum over all traces, each figure for the range returned with it', async () => {
      const random = new Random(38);
      await chain.fillPieces(random);
      for (let round = 0; round < 30; round++) {
        if (round % 10 === 5) await chain.reorganise(random, random.between(1, 15), random.between(1, 20));
        if (round % 10 === 7) await chain.fillOne(random);
        if (round % every > 0 && round % 10 !== 6) continue;
        const [fromBlock = 0, toBlock = 0] = [random.below(chain.head), random.below(chain.head)].sort(
          (a, b) => a - b,
        );
        await chain.expectPlainSummary(
          random.pick([...ADDRESSES, ...STRANGER]),
          random.chance(0.5) ? { toBlock: chain.head } : { fromBlock, toBlock },
        );
      }
    });

    test('are summarised up to a bound of work', async () => {
      const random = new Random(39);
      await chain.grow(random, 20);
      for (let i = 0; i < 3; i++) chain.addLarge(random, 100);
      await chain.flush();
      const { value } = await chain.expectPlainSummary(ADDRESSES[0] ?? '', { toBlock: chain.head });
      expect(value.range?.toBlock).toBe(chain.head);
      if (sumsFew) expect(value.range?.fromBlock).toBeGreaterThan(chain.head - 3);
    });

    test('of an empty index are empty, and their whole range is missing', async () => {
      const { traces, missing } = await chain.walk(historyOf({ fromBlock: 3, toBlock: 9 }));
      expect([traces, missing]).toEqual([[], [[3, 9]]]);
      expect((await chain.walk(historyOf({ toBlock: 9 }))).range).toEqual({ fromBlock: 9, toBlock: 9 });
    });
  });
}

/** The blocks of an index, and a copy in memory. */
class Chain {
  store: TraceStore;
  readonly #blocks = new Map<number, SyntheticBlock>();
  #added: SyntheticBlock[] = [];
  #traces: Trace[] | undefined;
  head = 15 * BLOCKS_PER_SEGMENT - 10;

  constructor(store: TraceStore) {
    this.store = store;
  }

  get traces(): Trace[] {
    this.#traces ??= [...this.#blocks.values()]
      .sort((a, b) => a.header.number - b.header.number)
      .flatMap(({ traces }) => [...traces]);
    return this.#traces;
  }

  hashOf(number: number): Hash | undefined {
    return this.#blocks.get(number)?.header.hash;
  }

  add(block: SyntheticBlock): void {
    this.#blocks.set(block.header.number, block);
    this.#added.push(block);
    this.#traces = undefined;
    this.head = Math.max(this.head, block.header.number);
  }

  async flush(undoFrom?: number): Promise<void> {
    const blocks = this.#added.map(({ header, traces }) => indexBlock(header, traces));
    this.#added = [];
    await this.store.apply({ ...(undoFrom !== undefined && { undoFrom }), blocks });
  }

  /** Adds a block with one transaction of `calls` calls that transfer a wei from the first address. */
  addLarge(random: Random, calls: number): void {
    const block = historyBlock(random, ADDRESSES, {
      number: this.head + 1,
      parentHash: this.hashOf(this.head),
    });
    const transactionHash = random.hex(32) as Hash;
    const action = {
      callType: 'call' as const,
      from: ADDRESSES[0] as Address,
      gas: '0x1' as Quantity,
      input: '0x' as Data,
      to: random.pick(ADDRESSES),
      value: '0x1' as Quantity,
    } as const;
    const { number, hash } = block.header;
    const traces = Array.from({ length: calls }, (_, i) => ({
      action,
      blockHash: hash,
      blockNumber: number,
      result: null,
      subtraces: i === 0 ? calls - 1 : 0,
      traceAddress: i === 0 ? [] : [i - 1],
      transactionHash,
      transactionPosition: 0,
      type: 'call' as const,
    }));
    this.add({ header: { ...block.header, transactionHashes: [transactionHash] }, traces });
  }

  /** Adds a few blocks in each of the first segments, complete segments nowhere, and then the head. */
  async fillPieces(random: Random): Promise<void> {
    for (let segment = 0; segment < 13; segment++) {
      if (segment === 11) continue;
      let parent: Hash | undefined;
      const first = segment * BLOCKS_PER_SEGMENT + random.below(1_000);
      // The blocks of segment 3 do not contain most addresses, so that the directory can skip that segment.
      const addresses = segment === 3 ? ADDRESSES.slice(30) : ADDRESSES;
      for (let number = first; number < first + 6; number++) {
        const block = historyBlock(random, addresses, { number, parentHash: parent });
        parent = block.header.hash;
        this.add(block);
      }
      await this.flush();
    }
    this.head = 15 * BLOCKS_PER_SEGMENT - 10;
    await this.grow(random, 30);
  }

  async grow(random: Random, count: number): Promise<void> {
    for (let i = 0; i < count; i++)
      this.add(
        historyBlock(random, ADDRESSES, { number: this.head + 1, parentHash: this.hashOf(this.head) }),
      );
    await this.flush();
  }

  async reorganise(random: Random, depth: number, count: number): Promise<void> {
    let undone = 0;
    while (undone < depth && this.#blocks.delete(this.head)) {
      this.#traces = undefined;
      undone++;
      this.head--;
    }
    for (let i = 0; i < count; i++)
      this.add(
        historyBlock(random, ADDRESSES, { number: this.head + 1, parentHash: this.hashOf(this.head) }),
      );
    await this.flush(this.head - count + 1);
  }

  /** Adds one block without stored neighbours. */
  async fillOne(random: Random): Promise<void> {
    let number = random.below(12 * BLOCKS_PER_SEGMENT);
    while ([number - 1, number, number + 1].some((near) => this.#blocks.has(near))) number += 3;
    this.add(historyBlock(random, ADDRESSES, { number }));
    await this.flush();
  }

  async page(
    query: HistoryQuery,
    maxBytes = MAX_BYTES,
  ): Promise<HistoryPage & { traces: Trace[]; text: string }> {
    const json = new JsonWriter();
    const page = await this.store.addressTraces(query, maxBytes, json);
    const text = json.written().toString();
    return { ...page, traces: JSON.parse(text) as Trace[], text };
  }

  /** Reads all pages of a history. */
  async walk(
    query: HistoryQuery,
    maxBytes = MAX_BYTES,
    between: () => Promise<void> = async () => undefined,
  ): Promise<Walked> {
    const traces: Trace[] = [];
    const texts: string[] = [];
    const missing: [number, number][] = [];
    let page = await this.page(query, maxBytes);
    let pages = 1;
    for (; ; pages++) {
      // An `expect` takes as long as a page.
      if (page.traces.length > query.limit || pages >= 20_000) {
        expect(page.traces.length).toBeLessThanOrEqual(query.limit);
        expect(pages).toBeLessThan(20_000);
      }
      traces.push(...page.traces);
      if (page.traces.length > 0) texts.push(page.text.slice(1, -1));
      const reported = page.missing.map(({ fromBlock, toBlock }): [number, number] => [fromBlock, toBlock]);
      if (query.order === 'asc') missing.push(...reported);
      else missing.unshift(...reported);
      if (page.next === undefined) {
        const text = `[${texts.join(',')}]`;
        return { traces, missing: joined(missing), range: page.range, pages, text };
      }
      await between();
      page = await this.page({ ...query, ...page.range, cursor: page.next }, maxBytes);
    }
  }

  async expectPlain(query: HistoryQuery, between?: () => Promise<void>): Promise<void> {
    const before = this.traces;
    const lowest = Math.min(...this.#blocks.keys());
    const range = { fromBlock: query.fromBlock ?? Math.min(lowest, query.toBlock), toBlock: query.toBlock };
    const gaps = this.gaps(range);
    const walked = await this.walk(query, MAX_BYTES, between);
    const about = JSON.stringify({ ...query, filter: String(query.filter.minValue) });
    expect(walked.range, about).toEqual(range);
    expect(walked.missing, about).toEqual(gaps);
    const expected = referenceHistory(before, query, range);
    const text = stringifyTraces(expected);
    if (walked.text === text) return;
    expect(walked.traces, about).toEqual(expected);
    expect(walked.text, about).toBe(text);
  }

  /** Compares all pages of internal transactions, except the first `skip` ones. */
  async expectPlainInternal(query: FramesQuery): Promise<void> {
    const found: HistoryFrame[] = [];
    const missing: [number, number][] = [];
    let [behind, skip]: [HistoryPage['next'], number] = [undefined, query.skip];
    for (let pages = 1; ; pages++) {
      expect(pages).toBeLessThan(20_000);
      const asked: FramesQuery = { ...query, skip, ...(behind && { cursor: behind }) };
      const page = await this.store.frames(asked, historyFrameOf);
      const brief = await this.store.frames(asked, transactionOf);
      expect(brief.frames.map(({ transactionHash }) => transactionHash)).toEqual(
        page.frames.map(({ transactionHash }) => transactionHash),
      );
      expect(page.found).toBeLessThanOrEqual(query.limit);
      expect(page.frames).toHaveLength(page.found - Math.min(skip, page.found));
      skip -= Math.min(skip, page.found);
      found.push(...page.frames);
      const reported = page.missing.map(({ fromBlock, toBlock }): [number, number] => [fromBlock, toBlock]);
      if (query.order === 'asc') missing.push(...reported);
      else missing.unshift(...reported);
      behind = page.next;
      if (behind === undefined) break;
    }
    const about = JSON.stringify(query);
    const timestampOf = (number: number): number => this.#blocks.get(number)?.header.timestamp ?? 0;
    const expected = plainInternalTransactions(this.traces, query, { range: query, timestampOf });
    expect(found, about).toEqual(expected.slice(query.skip));
    expect(joined(missing), about).toEqual(this.gaps(query));
  }

  async expectPlainSummary(
    address: string,
    bounds: { fromBlock?: number; toBlock: number },
  ): Promise<HistorySummary> {
    const summary = await this.store.addressSummary({ address: address as Address, ...bounds });
    const { traces } = this;
    const lowest = Math.min(...this.#blocks.keys(), bounds.toBlock);
    const range = { fromBlock: lowest, ...bounds };
    const about = JSON.stringify({ address, ...range });
    expect(summary.range, about).toEqual(range);
    expect(joined(summary.missing.map(({ fromBlock, toBlock }) => [fromBlock, toBlock])), about).toEqual(
      this.gaps(range),
    );
    const whole = plainSummary(traces, address, range);
    expect([summary.firstBlock, summary.lastBlock], about).toEqual([whole.firstBlock, whole.lastBlock]);
    const { counts, value } = summary;
    if (counts.range !== undefined)
      expect(counts.by, about).toEqual(plainSummary(traces, address, counts.range).counts);
    if (value.range !== undefined)
      expect(value.by, about).toEqual(plainSummary(traces, address, value.range).value);
    expect(counts.range?.toBlock, about).toBe(range.toBlock);
    expect(value.range?.toBlock, about).toBe(range.toBlock);
    return summary;
  }

  gaps({ fromBlock, toBlock }: { fromBlock: number; toBlock: number }): [number, number][] {
    const gaps: [number, number][] = [];
    let next = fromBlock;
    for (const number of [...this.#blocks.keys()].sort((a, b) => a - b)) {
      if (number < fromBlock || number > toBlock) continue;
      if (number > next) gaps.push([next, number - 1]);
      next = number + 1;
    }
    if (next <= toBlock) gaps.push([next, toBlock]);
    return gaps;
  }
}

/** Joins adjacent ranges, which pages may split. */
function joined(ranges: readonly [number, number][]): [number, number][] {
  const all: [number, number][] = [];
  for (const [first, last] of ranges) {
    const before = all.at(-1);
    if (before !== undefined && before[1] + 1 === first) before[1] = last;
    else all.push([first, last]);
  }
  return all;
}

const historyOf = (members: Partial<HistoryQuery>): HistoryQuery => ({
  addresses: ADDRESSES.slice(0, 1),
  direction: 'either',
  toBlock: 0,
  order: 'desc',
  filter: {},
  limit: 100,
  ...members,
});

function randomQuery(random: Random, chain: Chain): HistoryQuery {
  const numbers = [random.below(chain.head + 1), random.below(chain.head + 1)].sort((a, b) => a - b);
  const [fromBlock = 0, toBlock = 0] = numbers;
  const isWhole = random.chance(0.6);
  const sometimes = <T>(make: () => T): T | undefined => (random.chance(0.4) ? make() : undefined);
  const kinds = sometimes(() => KINDS.filter(() => random.chance(0.5)));
  const minValue = sometimes(() =>
    random.pick([0n, 1n, 255n, 256n, 2n ** 19n, 700_000n, 2n ** 60n, 2n ** 255n]),
  );
  const internal = sometimes(() => random.chance(0.5));
  const failed = sometimes(() => random.chance(0.5));
  return {
    addresses: random.chance(0.1)
      ? 'all'
      : Array.from({ length: random.pick([1, 1, 1, 2, 20]) }, () => random.pick([...ADDRESSES, ...STRANGER])),
    direction: random.pick(['from', 'to', 'either']),
    ...(!isWhole && { fromBlock }),
    toBlock: isWhole ? chain.head : toBlock,
    order: random.pick(['asc', 'desc']),
    filter: {
      ...(kinds !== undefined && { kinds }),
      ...(minValue !== undefined && { minValue }),
      ...(internal !== undefined && { internal }),
      ...(failed !== undefined && { failed }),
      ...(random.chance(0.2) && { callsCarryValue: true }),
    },
    limit: random.pick([1 + random.below(10), 25, 100, MAX_HISTORY_LIMIT, 200]),
  };
}
