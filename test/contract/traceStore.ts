import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  AnswerTooLargeError,
  type Hash,
  IndexConflictError,
  indexBlock,
  JsonWriter,
  MAX_COUNT,
  MAX_RANGE_BLOCKS,
  type Trace,
  type TraceFilter,
  type TraceStore,
  WrongChainError,
} from '../../src/ethereum/traces/index.ts';
import { plainFilter } from '../support/plainFilter.ts';
import { Random } from '../support/random.ts';
import {
  type ChainShape,
  type SyntheticBlock,
  syntheticAddresses,
  syntheticBlock,
} from '../support/syntheticChain.ts';
import { blockOfTrees, randomTree } from '../support/syntheticTree.ts';

const MAX_BYTES = 64 * 1024 * 1024;

const shape: ChainShape = { addresses: syntheticAddresses(12), maxTransactions: 12, maxFrames: 6 };

/** What every engine behind TraceStore must do. `open` opens the engine on the same data again and again. */
export function traceStoreContract(
  engine: string,
  prepare: () => Promise<{ open(): Promise<TraceStore>; remove(): Promise<void> }>,
): void {
  describe(`trace store on ${engine}`, () => {
    let data: Awaited<ReturnType<typeof prepare>>;
    let store: TraceStore;

    beforeEach(async () => {
      data = await prepare();
      store = await data.open();
    });
    afterEach(async () => {
      await store.close();
      await data.remove();
    });

    test('answers as a plain filter over all traces does, while blocks come, go and fill gaps', async () => {
      const random = new Random(7);
      const model = new Map<number, SyntheticBlock>();
      let finalized = 1000;
      // The chain starts below a segment's end, so that the first queries already touch two segments.
      let next = 1010;
      for (let round = 0; round < 40; round++) {
        const step = random.below(10);
        if (step < 7) next = await grow(store, random, model, next);
        else if (step < 9) next = await reorganise(store, random, model, next, finalized);
        else finalized = await finalize(store, random, finalized, next);
        await compareSome(store, random, model, 25);
      }
      await backfill(store, random, model, 1010);
      await compareSome(store, random, model, 200);
      await store.close();
      store = await data.open();
      expect((await store.head())?.number).toBe(next - 1);
      expect(await store.finalizedNumber()).toBe(finalized > 1000 ? finalized : undefined);
      await compareSome(store, random, model, 100);
    });

    test('an index that was reorganised answers every filter as one built from scratch does', async () => {
      const random = new Random(11);
      const model = new Map<number, SyntheticBlock>();
      let next = await grow(store, random, model, 500, 40);
      for (let i = 0; i < 10; i++) next = await reorganise(store, random, model, next, 400);
      const traces = tracesOf(model);
      for (const address of shape.addresses)
        for (const filter of [filterOf({ fromAddresses: [address] }), filterOf({ toAddresses: [address] })])
          for (let after = 0; after === 0 || after < traces.length; after += MAX_COUNT)
            await expectSame(store, traces, { ...filter, fromBlock: 500, toBlock: next - 1, after });
    });

    test('gives the traces of a block and of a transaction', async () => {
      const random = new Random(3);
      const model = new Map<number, SyntheticBlock>();
      await grow(store, random, model, 1020, 12);
      for (const { header, traces } of model.values()) {
        expect(parse(await store.blockTraces(header.number, MAX_BYTES))).toEqual(traces);
        for (const hash of header.transactionHashes)
          expect(parse(await store.transactionTraces(hash, MAX_BYTES))).toEqual(
            traces.filter((trace) => trace.transactionHash === hash),
          );
      }
      expect(await store.blockTraces(1, MAX_BYTES)).toBeUndefined();
      expect(await store.transactionTraces(random.hex(32) as Hash, MAX_BYTES)).toBeUndefined();
    });

    test.each([
      { shape: 'random trees', trees: 6, frames: 60, breadth: 8 },
      { shape: 'roots alone', trees: 40, frames: 1, breadth: 1 },
      { shape: 'one chain, as deep as calls go', trees: 1, frames: 1_025, breadth: 1 },
      { shape: 'one frame with many children', trees: 2, frames: 700, breadth: 1_000 },
      { shape: 'bushes', trees: 3, frames: 500, breadth: 40 },
    ])(
      'gives the one frame of a transaction with a traceAddress, and null for others: $shape',
      async ({ trees, frames, breadth }) => {
        const random = new Random(frames);
        const { header, traces } = blockOfTrees(
          random,
          1023,
          Array.from({ length: trees }, () => randomTree(random, frames, breadth)),
        );
        await add(store, [{ header, traces }]);
        for (const hash of header.transactionHashes) {
          const given = parse(await store.transactionTraces(hash, MAX_BYTES)) as Trace[];
          expect(given).toEqual(traces.filter(({ transactionHash }) => transactionHash === hash));
          const known = new Set(given.map(({ traceAddress }) => traceAddress.join()));
          for (const trace of given) {
            const { traceAddress, subtraces } = trace;
            expectText(await store.transactionTrace(hash, traceAddress, MAX_BYTES), trace);
            for (const absent of neighboursOf(random, traceAddress, subtraces))
              if (!known.has(absent.join()))
                expect(await store.transactionTrace(hash, absent, MAX_BYTES), absent.join()).toBeNull();
          }
        }
        expect(await store.transactionTrace(random.hex(32) as Hash, [], MAX_BYTES)).toBeUndefined();
      },
    );

    test('a single frame over the size of an answer is refused, whatever its transaction has besides', async () => {
      const random = new Random(1);
      const block = blockOfTrees(random, 5, [randomTree(random, 100, 5)]);
      await add(store, [block]);
      const [hash] = block.header.transactionHashes as [Hash];
      const text = await store.transactionTrace(hash, [0], MAX_BYTES);
      const bytes = text?.length ?? 0;
      expect(await store.transactionTrace(hash, [0], bytes)).toEqual(text);
      await expect(async () => store.transactionTraces(hash, bytes)).rejects.toThrow(AnswerTooLargeError);
      await expect(async () => store.transactionTrace(hash, [0], bytes - 1)).rejects.toThrow(
        AnswerTooLargeError,
      );
    });

    test('writes an answer where it is told to, and none where a block of the range is missing', async () => {
      const random = new Random(4);
      const model = new Map<number, SyntheticBlock>();
      await grow(store, random, model, 20, 5);
      const json = new JsonWriter();
      const filter = filterOf({ fromBlock: 20, toBlock: 24 });
      const bytes = await store.filter(filter, MAX_BYTES, json);
      expectText(bytes, plainFilter(tracesOf(model), filter));
      expect(bytes?.buffer).toBe(json.written().buffer);
      for (const range of [{ fromBlock: 19 }, { toBlock: 25 }, { fromBlock: 900, toBlock: 901 }])
        expect(await store.filter({ ...filter, ...range }, MAX_BYTES, json)).toBeUndefined();
    });

    test('names the first block of a range that it does not have', async () => {
      const random = new Random(5);
      const model = new Map<number, SyntheticBlock>();
      await grow(store, random, model, 2040, 20);
      expect(await store.firstMissing(2040, 2059)).toBeUndefined();
      expect(await store.firstMissing(2050, 2060)).toBe(2060);
      expect(await store.firstMissing(2030, 2050)).toBe(2030);
    });

    test('refuses a block that is not the child of the block before it, and changes nothing', async () => {
      const random = new Random(6);
      const model = new Map<number, SyntheticBlock>();
      await grow(store, random, model, 10, 5);
      const stranger = syntheticBlock(random, shape, 15);
      await expect(add(store, [stranger])).rejects.toThrow(IndexConflictError);
      const other = syntheticBlock(random, shape, 12, model.get(11)?.header.hash);
      await expect(add(store, [other])).rejects.toThrow(IndexConflictError);
      expect((await store.head())?.number).toBe(14);
      await compareSome(store, random, model, 20);
    });

    test('never undoes a finalized block', async () => {
      const random = new Random(8);
      const model = new Map<number, SyntheticBlock>();
      await grow(store, random, model, 10, 5);
      await store.apply({ blocks: [], finalizedNumber: 12 });
      await expect(store.apply({ undoFrom: 12, blocks: [] })).rejects.toThrow(IndexConflictError);
      await store.apply({ undoFrom: 13, blocks: [] });
      expect((await store.head())?.number).toBe(12);
      await store.apply({ blocks: [], finalizedNumber: 11 });
      expect(await store.finalizedNumber()).toBe(12);
    });

    test('undoes a finalized block where a change says so, across gaps, and calls none final that is gone', async () => {
      const random = new Random(8);
      await grow(store, random, new Map(), 100, 3);
      await grow(store, random, new Map(), 2_000, 3);
      await store.apply({ blocks: [], finalizedNumber: 2_001 });
      expect((await store.lastBlock(5_000))?.number).toBe(2_002);
      expect((await store.lastBlock(1_999))?.number).toBe(102);
      expect(await store.lastBlock(99)).toBeUndefined();
      await store.apply({ undoFrom: 102, blocks: [], undoFinal: true });
      expect((await store.head())?.number).toBe(101);
      expect(await store.finalizedNumber()).toBe(101);
      await store.apply({ undoFrom: 0, blocks: [], undoFinal: true });
      expect(await store.head()).toBeUndefined();
      expect(await store.finalizedNumber()).toBeUndefined();
    });

    test('refuses an answer over its size', async () => {
      const random = new Random(9);
      const model = new Map<number, SyntheticBlock>();
      await grow(store, random, model, 10, 5);
      const filter = filterOf({ fromBlock: 10, toBlock: 14 });
      await expect(async () => store.filter(filter, 1000)).rejects.toThrow(AnswerTooLargeError);
    });

    test('belongs to one chain', async () => {
      const genesisHash = new Random(1).hex(32) as Hash;
      await store.bindChain({ chainId: 1, genesisHash });
      await store.bindChain({ chainId: 1, genesisHash });
      await expect(store.bindChain({ chainId: 2, genesisHash })).rejects.toThrow(WrongChainError);
      expect(await store.chain()).toEqual({ chainId: 1, genesisHash });
    });

    test('is empty at first', async () => {
      expect(await store.head()).toBeUndefined();
      expect(await store.finalizedNumber()).toBeUndefined();
      expect(await store.chain()).toBeUndefined();
      expect(await store.block(0)).toBeUndefined();
    });
  });
}

/** Paths around a frame's, of which most stand for nothing. */
const neighboursOf = (random: Random, path: readonly number[], subtraces: number): number[][] => [
  [...path, subtraces],
  [...path, subtraces + random.below(2 ** 28)],
  [...path, 0, 0],
  [...path.slice(0, -1), (path.at(-1) ?? 0) + 1],
  [...path.slice(0, -1), 2 ** 53 - 1],
  [...path.slice(1)],
  Array.from({ length: 1_025 }, () => 0),
];

const filterOf = (members: Partial<TraceFilter>): TraceFilter => ({
  fromBlock: 0,
  toBlock: 0,
  fromAddresses: [],
  toAddresses: [],
  mode: 'intersection',
  after: 0,
  count: MAX_COUNT,
  ...members,
});

const add = (store: TraceStore, blocks: readonly SyntheticBlock[], undoFrom?: number): Promise<void> =>
  store.apply({
    ...(undoFrom !== undefined && { undoFrom }),
    blocks: blocks.map(({ header, traces }) => indexBlock(header, traces)),
  });

async function grow(
  store: TraceStore,
  random: Random,
  model: Map<number, SyntheticBlock>,
  next: number,
  count = random.between(1, 60),
): Promise<number> {
  const blocks = continueFrom(random, model, next, count);
  await add(store, blocks);
  return next + count;
}

async function reorganise(
  store: TraceStore,
  random: Random,
  model: Map<number, SyntheticBlock>,
  next: number,
  finalized: number,
): Promise<number> {
  const lowest = Math.min(...model.keys());
  const undoFrom = Math.max(lowest, finalized + 1, next - random.between(1, 20));
  if (undoFrom >= next) return next;
  for (let number = undoFrom; number < next; number++) model.delete(number);
  const blocks = continueFrom(random, model, undoFrom, random.between(1, 25));
  await add(store, blocks, undoFrom);
  return undoFrom + blocks.length;
}

async function finalize(store: TraceStore, random: Random, finalized: number, next: number): Promise<number> {
  const number = Math.min(next - 1, finalized + random.below(30));
  await store.apply({ blocks: [], finalizedNumber: number });
  return Math.max(finalized, number);
}

/** Puts blocks below the lowest one, from the last to the first: every insertion is before all that is there. */
async function backfill(
  store: TraceStore,
  random: Random,
  model: Map<number, SyntheticBlock>,
  lowest: number,
): Promise<void> {
  const before = new Map<number, SyntheticBlock>();
  continueFrom(random, before, lowest - 30, 29);
  const child = model.get(lowest)?.header.parentHash;
  const last = syntheticBlock(random, shape, lowest - 1, before.get(lowest - 2)?.header.hash);
  const header = { ...last.header, hash: child as Hash }; // the block below the lowest one is in the model
  before.set(lowest - 1, {
    header,
    traces: last.traces.map((trace) => ({ ...trace, blockHash: header.hash })),
  });
  for (const block of [...before.values()].reverse()) {
    await add(store, [block]);
    model.set(block.header.number, block);
  }
}

function continueFrom(
  random: Random,
  model: Map<number, SyntheticBlock>,
  next: number,
  count: number,
): SyntheticBlock[] {
  return Array.from({ length: count }, (_, i) => {
    const block = syntheticBlock(random, shape, next + i, model.get(next + i - 1)?.header.hash);
    model.set(next + i, block);
    return block;
  });
}

const tracesOf = (model: ReadonlyMap<number, SyntheticBlock>): Trace[] =>
  [...model.values()].sort((a, b) => a.header.number - b.header.number).flatMap(({ traces }) => [...traces]);

async function compareSome(
  store: TraceStore,
  random: Random,
  model: Map<number, SyntheticBlock>,
  times: number,
): Promise<void> {
  if (model.size === 0) return;
  const traces = tracesOf(model);
  const numbers = [...model.keys()].sort((a, b) => a - b);
  for (let i = 0; i < times; i++) await expectSame(store, traces, randomFilter(random, numbers));
}

async function expectSame(store: TraceStore, traces: readonly Trace[], filter: TraceFilter): Promise<void> {
  expectText(await store.filter(filter, MAX_BYTES), plainFilter(traces, filter), JSON.stringify(filter));
}

/** To the letter, order of members included; compared member by member only where that tells what differs. */
function expectText(answer: Uint8Array | null | undefined, expected: unknown, about?: string): void {
  const text = Buffer.from(answer ?? '').toString();
  if (text !== JSON.stringify(expected)) expect(JSON.parse(text), about).toEqual(expected);
}

const parse = (bytes: Uint8Array | undefined): unknown =>
  bytes === undefined ? undefined : JSON.parse(Buffer.from(bytes).toString());

function randomFilter(random: Random, numbers: readonly number[]): TraceFilter {
  const last = numbers.length - 1;
  const first = random.below(numbers.length);
  const width = random.below(Math.min(MAX_RANGE_BLOCKS, last - first + 1));
  const addresses = () =>
    random.chance(0.35)
      ? []
      : Array.from({ length: random.between(1, 4) }, () => random.pick([...shape.addresses]));
  return filterOf({
    fromBlock: numbers[first] ?? 0,
    toBlock: numbers[first + width] ?? 0,
    fromAddresses: addresses(),
    toAddresses: addresses(),
    mode: random.pick(['intersection', 'union']),
    after: random.chance(0.5) ? 0 : random.below(3000),
    count: random.chance(0.5) ? MAX_COUNT : random.below(MAX_COUNT + 1),
  });
}
