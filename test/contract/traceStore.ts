import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  AnswerTooLargeError,
  type Hash,
  IndexConflictError,
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
import { inCi, SEARCH_MINUTES } from '../support/search.ts';
import { syntheticBlock } from '../support/syntheticChain.ts';
import { blockOfTrees, randomTree } from '../support/syntheticTree.ts';
import { textOfTraces } from '../support/textOfTraces.ts';
import { addressTracesContract, type EngineNotes } from './addressTraces.ts';
import { add, GrowingChain, shape } from './growingChain.ts';

const MAX_BYTES = 64 * 1024 * 1024;
/** Changes of the chain, of every kind. */
const ROUNDS = inCi(40, { elsewhere: 15 });

/** Of the call trees in which single frames are looked for. */
const SHAPES = [
  { shape: 'random trees', trees: 6, frames: 60, breadth: 8 },
  { shape: 'roots alone', trees: 40, frames: 1, breadth: 1 },
  { shape: 'one chain, as deep as calls go', trees: 1, frames: 1_025, breadth: 1 },
  { shape: 'one frame with many children', trees: 2, frames: 700, breadth: 1_000 },
  { shape: 'bushes', trees: 3, frames: 500, breadth: 40 },
];

/** The notes on the embedded engine. */
export const EMBEDDED: EngineNotes = { sumsFew: true, every: 1 };

/** What every engine behind TraceStore must do. `open` opens the engine on the same data again and again. */
export function traceStoreContract(
  engine: string,
  prepare: () => Promise<{ open(): Promise<TraceStore>; remove(): Promise<void> }>,
  notes: EngineNotes = EMBEDDED,
): void {
  const { without = [] } = notes;
  const every = SEARCH_MINUTES > 0 ? 1 : inCi(notes.every, { elsewhere: Math.max(notes.every, 4) });
  /** Those that are asked about. */
  const some = <T>(all: readonly T[]): T[] => all.filter((_, i) => i % every === 0);

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
      // The chain starts below a segment's end, so that the first queries already touch two segments.
      const chain = new GrowingChain(new Random(7), 1010);
      for (let round = 0; round < ROUNDS; round++) {
        const step = chain.random.below(10);
        if (step < 7) await chain.grow(store);
        else if (step < 9) await chain.reorganise(store);
        else await chain.finalize(store);
        await compareSome(store, chain, Math.ceil(25 / every));
      }
      await chain.backfill(store);
      await compareSome(store, chain, 200 / every);
      await store.close();
      store = await data.open();
      expect((await store.head())?.number).toBe(chain.next - 1);
      expect(await store.finalizedNumber()).toBe(chain.finalized);
      await compareSome(store, chain, 100 / every);
    });

    test('a filter that is asked while blocks come and go is answered as before them, or behind, or not at all', async () => {
      const chain = new GrowingChain(new Random(17), 1010);
      await chain.grow(store, 60);
      let answered = 0;
      for (let round = 0; round < 30; round++) {
        const filters = Array.from({ length: 6 }, () => randomFilter(chain.random, chain.numbers));
        const before = chain.traces;
        const asked = filters.map((filter) => store.filter(filter, MAX_BYTES));
        const change = chain.random.chance(0.7)
          ? chain.grow(store, chain.random.between(1, 10))
          : chain.reorganise(store);
        const late = filters.map((filter) => store.filter(filter, MAX_BYTES));
        await change;
        for (const [i, answer] of (await Promise.all([...asked, ...late])).entries()) {
          const filter = filters[i % filters.length] as TraceFilter; // one for each, twice
          if (answer === undefined) continue;
          answered++;
          const text = Buffer.from(answer).toString();
          const right = [before, chain.traces].map((traces) => textOfTraces(plainFilter(traces, filter)));
          if (!right.includes(text)) expect(text, JSON.stringify(filter)).toEqual(right[1]);
        }
      }
      expect(answered).toBeGreaterThan(150);
      await compareSome(store, chain, 50);
    });

    test('an index that was reorganised answers every filter as one built from scratch does', async () => {
      const chain = new GrowingChain(new Random(11), 500);
      await chain.grow(store, 40);
      for (let i = 0; i < 10; i++) await chain.reorganise(store);
      const { traces, next } = chain;
      for (const address of some(shape.addresses))
        for (const filter of [filterOf({ fromAddresses: [address] }), filterOf({ toAddresses: [address] })])
          for (let after = 0; after === 0 || after < traces.length; after += MAX_COUNT)
            await expectSame(store, traces, { ...filter, fromBlock: 500, toBlock: next - 1, after });
    });

    test('gives the traces of a block and of a transaction', async () => {
      const random = new Random(3);
      const chain = new GrowingChain(random, 1020);
      await chain.grow(store, 12);
      for (const { header, traces } of chain.blocks.values()) {
        expect(parse(await store.blockTraces(header.number, MAX_BYTES))).toEqual(traces);
        for (const hash of some(header.transactionHashes))
          expect(parse(await store.transactionTraces(hash, { maxBytes: MAX_BYTES }))).toEqual(
            traces.filter((trace) => trace.transactionHash === hash),
          );
      }
      for (const { header } of chain.blocks.values())
        for (const hash of some(header.transactionHashes))
          for (const [upTo, isThere] of [
            [header.number - 1, false],
            [header.number, true],
          ] as const) {
            const limits = { maxBytes: MAX_BYTES, upTo };
            expect((await store.transactionTraces(hash, limits)) !== undefined).toBe(isThere);
            expect((await store.transactionTrace(hash, [], limits)) !== undefined).toBe(isThere);
          }
      expect(await store.blockTraces(1, MAX_BYTES)).toBeUndefined();
      expect(await store.transactionTraces(random.hex(32) as Hash, { maxBytes: MAX_BYTES })).toBeUndefined();
    });

    test.each(without.includes('shapes') ? SHAPES.slice(0, 1) : SHAPES)(
      'gives the one frame of a transaction with a traceAddress, and null for others: $shape',
      async ({ trees, frames, breadth }) => {
        const random = new Random(frames);
        const { header, traces } = blockOfTrees(
          random,
          1023,
          Array.from({ length: trees }, () => randomTree(random, frames, breadth)),
        );
        await add(store, [{ header, traces }]);
        for (const hash of header.transactionHashes.slice(0, every > 1 ? 2 : undefined)) {
          const given = parse(await store.transactionTraces(hash, { maxBytes: MAX_BYTES })) as Trace[];
          expect(given).toEqual(traces.filter(({ transactionHash }) => transactionHash === hash));
          const known = new Set(given.map(({ traceAddress }) => traceAddress.join()));
          for (const trace of given.filter((_, i) => i % (every > 1 ? 251 : 1) === 0)) {
            const { traceAddress, subtraces } = trace;
            expectText(
              await store.transactionTrace(hash, traceAddress, { maxBytes: MAX_BYTES }),
              JSON.stringify(trace),
            );
            for (const absent of neighboursOf(random, traceAddress, subtraces)) {
              if (known.has(absent.join())) continue;
              const answer = await store.transactionTrace(hash, absent, { maxBytes: MAX_BYTES });
              // An `expect` takes as long as the answer.
              if (answer !== null) expect(answer, absent.join()).toBeNull();
            }
          }
        }
        expect(
          await store.transactionTrace(random.hex(32) as Hash, [], { maxBytes: MAX_BYTES }),
        ).toBeUndefined();
      },
    );

    test('a single frame over the size of an answer is refused, whatever its transaction has besides', async () => {
      const random = new Random(1);
      const block = blockOfTrees(random, 5, [randomTree(random, 100, 5)]);
      await add(store, [block]);
      const [hash] = block.header.transactionHashes as [Hash];
      const text = await store.transactionTrace(hash, [0], { maxBytes: MAX_BYTES });
      const bytes = text?.length ?? 0;
      expect(await store.transactionTrace(hash, [0], { maxBytes: bytes })).toEqual(text);
      await expect(async () => store.transactionTraces(hash, { maxBytes: bytes })).rejects.toThrow(
        AnswerTooLargeError,
      );
      await expect(async () => store.transactionTrace(hash, [0], { maxBytes: bytes - 1 })).rejects.toThrow(
        AnswerTooLargeError,
      );
    });

    test('writes an answer where it is told to, and none where a block of the range is missing', async () => {
      const random = new Random(4);
      const chain = new GrowingChain(random, 20);
      await chain.grow(store, 5);
      const json = new JsonWriter();
      const filter = filterOf({ fromBlock: 20, toBlock: 24 });
      const bytes = await store.filter(filter, MAX_BYTES, json);
      expectText(bytes, textOfTraces(plainFilter(chain.traces, filter)));
      expect(bytes?.buffer).toBe(json.written().buffer);
      for (const range of [{ fromBlock: 19 }, { toBlock: 25 }, { fromBlock: 900, toBlock: 901 }])
        expect(await store.filter({ ...filter, ...range }, MAX_BYTES, json)).toBeUndefined();
    });

    test('names the first block of a range that it does not have', async () => {
      const random = new Random(5);
      const chain = new GrowingChain(random, 2040);
      await chain.grow(store, 20);
      expect(await store.firstMissing(2040, 2059)).toBeUndefined();
      expect(await store.firstMissing(2050, 2060)).toBe(2060);
      expect(await store.firstMissing(2030, 2050)).toBe(2030);
    });

    test('refuses a block that is not the child of the block before it, and changes nothing', async () => {
      const random = new Random(6);
      const chain = new GrowingChain(random, 10);
      await chain.grow(store, 5);
      const stranger = syntheticBlock(random, shape, { number: 15 });
      await expect(add(store, [stranger])).rejects.toThrow(IndexConflictError);
      const other = syntheticBlock(random, shape, {
        number: 12,
        parentHash: chain.blocks.get(11)?.header.hash,
      });
      await expect(add(store, [other])).rejects.toThrow(IndexConflictError);
      expect((await store.head())?.number).toBe(14);
      await compareSome(store, chain, 20);
    });

    test('never undoes a finalized block', async () => {
      const random = new Random(8);
      const chain = new GrowingChain(random, 10);
      await chain.grow(store, 5);
      await store.apply({ blocks: [], finalizedNumber: 12 });
      await expect(store.apply({ undoFrom: 12, blocks: [] })).rejects.toThrow(IndexConflictError);
      await store.apply({ undoFrom: 13, blocks: [] });
      expect((await store.head())?.number).toBe(12);
      await store.apply({ blocks: [], finalizedNumber: 11 });
      expect(await store.finalizedNumber()).toBe(12);
    });

    test('answers blocks that are final with the change that adds them', async () => {
      const chain = new GrowingChain(new Random(10), 10);
      await chain.growFinal(store, 5);
      expect(await store.finalizedNumber()).toBe(14);
      await compareSome(store, chain, 20);
    });

    test('undoes a finalized block where a change says so, across gaps, and calls none final that is gone', async () => {
      const random = new Random(8);
      await new GrowingChain(random, 100).grow(store, 3);
      await new GrowingChain(random, 2_000).grow(store, 3);
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
      const chain = new GrowingChain(random, 10);
      await chain.grow(store, 5);
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

  if (!without.includes('histories')) addressTracesContract(engine, prepare, { ...notes, every });
}

/** Paths around a frame's, of which most stand for nothing. */
const neighboursOf = (random: Random, path: readonly number[], subtraces: number): number[][] => [
  [...path, subtraces],
  [...path, subtraces + random.below(2 ** 28)],
  [...path, 0, 0],
  [...path.slice(0, -1), (path.at(-1) ?? 0) + 1],
  [...path.slice(0, -1), 2 ** 53 - 1],
  [...path.slice(1)],
  TOO_DEEP,
];

const TOO_DEEP = Array.from({ length: 1_025 }, () => 0);

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

export async function compareSome(store: TraceStore, chain: GrowingChain, times: number): Promise<void> {
  const { numbers, traces } = chain;
  for (let i = 0; i < times; i++) await expectSame(store, traces, randomFilter(chain.random, numbers));
}

async function expectSame(store: TraceStore, traces: readonly Trace[], filter: TraceFilter): Promise<void> {
  const expected = textOfTraces(plainFilter(traces, filter));
  expectText(await store.filter(filter, MAX_BYTES), expected, JSON.stringify(filter));
}

/** To the letter, order of members included; compared member by member only where that tells what differs. */
function expectText(answer: Uint8Array | null | undefined, expected: string, about?: string): void {
  const text = Buffer.from(answer ?? '').toString();
  if (text === expected) return;
  expect(JSON.parse(text), about).toEqual(JSON.parse(expected));
  expect(text, about).toBe(expected);
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
      : Array.from({ length: random.between(1, random.pick([4, 14])) }, () =>
          random.pick([...shape.addresses]),
        );
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
