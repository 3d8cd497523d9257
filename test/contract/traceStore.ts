import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  AnswerTooLargeError,
  type Data,
  type Hash,
  IndexConflictError,
  indexBlock,
  JsonWriter,
  MAX_COUNT,
  MAX_RANGE_BLOCKS,
  TooManyTracesError,
  type Trace,
  type TraceFilter,
  type TraceStore,
  WrongChainError,
} from '../../src/ethereum/traces/index.ts';
import { hasTooMany, referenceFilter } from '../support/plainFilter.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { type SyntheticBlock, syntheticBlock } from '../support/syntheticChain.ts';
import { blockOfTrees, randomTree } from '../support/syntheticTree.ts';
import { stringifyTraces } from '../support/textOfTraces.ts';
import { addressTracesContract, type EngineNotes } from './addressTraces.ts';
import { add, GrowingChain, shape } from './growingChain.ts';
import { unavailableBlocksContract } from './unavailableBlocks.ts';

const MAX_BYTES = 64 * 1024 * 1024;
/** Number of random changes of the chain. */
const ROUNDS = sizeInSearch(40, { ordinary: 15 });

/** Call trees in which single frames are looked up. */
const SHAPES = [
  { shape: 'random trees', trees: 6, frames: 60, breadth: 8 },
  { shape: 'single root frames', trees: 40, frames: 1, breadth: 1 },
  { shape: 'one chain of maximum call depth', trees: 1, frames: 1_025, breadth: 1 },
  { shape: 'one frame with many children', trees: 2, frames: 700, breadth: 1_000 },
  { shape: 'bushes', trees: 3, frames: 500, breadth: 40 },
];

/** Notes on the embedded engine. */
export const EMBEDDED: EngineNotes = { sumsFew: true, every: 1 };

/** Tests that every implementation of TraceStore must pass. `open` opens the engine repeatedly with the same data. */
export function traceStoreContract(
  engine: string,
  prepare: () => Promise<{ open(): Promise<TraceStore>; remove(): Promise<void> }>,
  notes: EngineNotes = EMBEDDED,
): void {
  const { without = [] } = notes;
  const every = sizeInSearch(1, { ordinary: Math.max(notes.every, 4) });
  /** Returns the number of rounds of a test. */
  const rounds = (all: number): number => (every < 8 ? all : Math.ceil(all / 4));
  /** Returns the items to query. */
  const some = <T>(all: readonly T[]): T[] => all.filter((_, i) => i % every === 0);

  describe(`traces on ${engine}`, () => {
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

    test('a filter returns the matches of a plain filter over all traces, while blocks are added, replaced and filled in', async () => {
      // The chain starts below a segment's end, so that the first queries already touch two segments.
      const chain = new GrowingChain(new Random(7), 1010);
      for (let round = 0; round < rounds(ROUNDS); round++) {
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

    test('a filter that runs during a change returns the matches before or after it, or undefined', async () => {
      const chain = new GrowingChain(new Random(17), 1010);
      await chain.grow(store, 60);
      let answered = 0;
      for (let round = 0; round < rounds(30); round++) {
        const filters = Array.from({ length: 6 }, () => ({
          ...randomFilter(chain.random, chain.numbers),
          wantsAll: false,
        }));
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
          const right = [before, chain.traces].map((traces) =>
            stringifyTraces(referenceFilter(traces, filter)),
          );
          if (!right.includes(text)) expect(text, JSON.stringify(filter)).toEqual(right[1]);
        }
      }
      expect(answered).toBeGreaterThan(rounds(30) * 5);
      await compareSome(store, chain, rounds(50));
    });

    test('a reorganised index returns the same matches as one built from scratch', async () => {
      const chain = new GrowingChain(new Random(11), 500);
      await chain.grow(store, 40);
      for (let i = 0; i < rounds(10); i++) await chain.reorganise(store);
      const { traces, next } = chain;
      for (const address of some(shape.addresses).slice(0, rounds(8)))
        for (const filter of [filterOf({ fromAddresses: [address] }), filterOf({ toAddresses: [address] })])
          for (let after = 0; after === 0 || after < traces.length; after += MAX_COUNT)
            await expectSame(store, traces, { ...filter, fromBlock: 500, toBlock: next - 1, after });
    });

    test('blockTraces and transactionTraces return the traces of a block and of a transaction', async () => {
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
      'transactionTrace returns the frame with a traceAddress, and null for other paths: $shape',
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
              // An `expect` takes as long as the lookup.
              if (answer !== null) expect(answer, absent.join()).toBeNull();
            }
          }
        }
        expect(
          await store.transactionTrace(random.hex(32) as Hash, [], { maxBytes: MAX_BYTES }),
        ).toBeUndefined();
      },
    );

    test('a frame larger than maxBytes is rejected, regardless of the other frames of its transaction', async () => {
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

    test('a filter writes into the given writer, and returns undefined if a block of the range is missing', async () => {
      const random = new Random(4);
      const chain = new GrowingChain(random, 20);
      await chain.grow(store, 5);
      const json = new JsonWriter();
      const filter = filterOf({ fromBlock: 20, toBlock: 24 });
      const bytes = await store.filter(filter, MAX_BYTES, { json });
      expectText(bytes, stringifyTraces(referenceFilter(chain.traces, filter)));
      expect(bytes?.buffer).toBe(json.written().buffer);
      for (const range of [{ fromBlock: 19 }, { toBlock: 25 }, { fromBlock: 900, toBlock: 901 }])
        expect(await store.filter({ ...filter, ...range }, MAX_BYTES, { json })).toBeUndefined();
    });

    test('long inputs and outputs that a block repeats are returned unchanged, and deleted with their block', async () => {
      const random = new Random(35);
      const long = [5_000, 9_000].map((bytes) => random.hex(bytes) as Data); // hex digits
      const blockWith = (number: number, parentHash?: Hash): SyntheticBlock => {
        const { header, traces } = blockOfTrees(random, number, [randomTree(random, 40, 4)]);
        const repeating = traces.map((trace, i): Trace => {
          if (trace.type !== 'call' || trace.result === null) return trace;
          const [input = trace.action.input, output = trace.result.output] = [long[i % 3], long[i % 5]];
          return { ...trace, action: { ...trace.action, input }, result: { ...trace.result, output } };
        });
        return { header: { ...header, parentHash: parentHash ?? header.parentHash }, traces: repeating };
      };
      const expectTraces = async ({ header, traces }: SyntheticBlock): Promise<void> => {
        const { number } = header;
        expect(String(await store.blockTraces(number, MAX_BYTES))).toBe(JSON.stringify(traces));
        const all = {
          fromAddresses: [],
          toAddresses: [],
          mode: 'intersection',
          after: 3,
          count: 30,
        } as const;
        expect(String(await store.filter({ fromBlock: number, toBlock: number, ...all }, MAX_BYTES))).toBe(
          JSON.stringify(traces.slice(3, 33)),
        );
        const { transactionHash: hash, traceAddress } = traces[17] ?? {};
        const one = await store.transactionTrace(hash as Hash, traceAddress ?? [], { maxBytes: MAX_BYTES });
        expect(String(one)).toBe(JSON.stringify(traces[17]));
        await expect(async () => store.blockTraces(number, 100_000)).rejects.toThrow(AnswerTooLargeError);
      };
      const first = blockWith(9);
      const replaced = blockWith(10, first.header.hash);
      await store.apply({
        blocks: [first, replaced].map(({ header, traces }) => indexBlock(header, traces)),
      });
      await expectTraces(first);
      await expectTraces(replaced);
      const second = blockWith(10, first.header.hash);
      await store.apply({ undoFrom: 10, blocks: [indexBlock(second.header, second.traces)] });
      await expectTraces(second);
      await store.close();
      store = await data.open();
      await expectTraces(first);
      await expectTraces(second);
    });

    test('firstMissing returns the first missing block of a range', async () => {
      const random = new Random(5);
      const chain = new GrowingChain(random, 2040);
      await chain.grow(store, 20);
      expect(await store.firstMissing(2040, 2059)).toBeUndefined();
      expect(await store.firstMissing(2050, 2060)).toBe(2060);
      expect(await store.firstMissing(2030, 2050)).toBe(2030);
    });

    test('a block whose parent is not the previous block is rejected without any change', async () => {
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

    test('a finalized block is not undone', async () => {
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

    test('blocks that are finalized in the change that adds them are returned', async () => {
      const chain = new GrowingChain(new Random(10), 10);
      await chain.growFinal(store, 5);
      expect(await store.finalizedNumber()).toBe(14);
      await compareSome(store, chain, 20);
    });

    test('a finalized block is undone if the change requests it, also across gaps, and the finalized number is corrected', async () => {
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

    test('a result larger than maxBytes is rejected', async () => {
      const random = new Random(9);
      const chain = new GrowingChain(random, 10);
      await chain.grow(store, 5);
      const filter = filterOf({ fromBlock: 10, toBlock: 14 });
      await expect(async () => store.filter(filter, 1000)).rejects.toThrow(AnswerTooLargeError);
    });

    test('a filter that wants all matches returns up to `count`, and fails with TooManyTracesError if there are more', async () => {
      const chain = new GrowingChain(new Random(12), 1020);
      await chain.grow(store, 8);
      const all = { fromBlock: 1020, toBlock: 1027, wantsAll: true };
      for (const sides of [
        {},
        { fromAddresses: shape.addresses },
        { toAddresses: shape.addresses },
        { fromAddresses: shape.addresses, toAddresses: shape.addresses },
        { fromAddresses: shape.addresses, toAddresses: shape.addresses, mode: 'union' } as const,
      ]) {
        const filter = filterOf({ ...all, ...sides });
        const matches = referenceFilter(chain.traces, { ...filter, count: Number.POSITIVE_INFINITY }).length;
        expect(matches).toBeGreaterThan(10);
        for (const after of [0, 7, matches, matches + 1]) {
          const left = Math.max(0, matches - after);
          for (const count of [left + 1, left, left - 1, 0])
            if (count >= 0) await expectSame(store, chain.traces, { ...filter, after, count });
        }
        // If there are too many matches, none is read.
        const tooMany = { ...filter, count: matches - 1 };
        await expect(async () => store.filter(tooMany, 1)).rejects.toThrow(TooManyTracesError);
      }
    });

    test('a filter by block hash returns the traces of that block, and undefined for another block at its height', async () => {
      const random = new Random(13);
      const chain = new GrowingChain(random, 1020);
      await chain.grow(store, 8);
      const [last, replaced] = [1027, 1025].map((number) => chain.blocks.get(number)?.header.hash);
      const at = (number: number, blockHash: Hash | undefined) =>
        filterOf({ fromBlock: number, toBlock: number, blockHash });
      await expectSame(store, chain.traces, at(1027, last));
      await expectSame(store, chain.traces, { ...at(1025, replaced), fromAddresses: shape.addresses });
      expect(await store.filter(at(1025, last), MAX_BYTES)).toBeUndefined();
      expect(await store.filter(at(1028, last), MAX_BYTES)).toBeUndefined();
      const parentHash = chain.blocks.get(1024)?.header.hash;
      const other = syntheticBlock(random, shape, { number: 1025, parentHash });
      await add(store, [other], 1025);
      expect(await store.filter(at(1025, replaced), MAX_BYTES)).toBeUndefined();
      await expectSame(store, other.traces, at(1025, other.header.hash));
    });

    test('an index is bound to one chain', async () => {
      const genesisHash = new Random(1).hex(32) as Hash;
      await store.bindChain({ chainId: 1, genesisHash });
      await store.bindChain({ chainId: 1, genesisHash });
      await expect(store.bindChain({ chainId: 2, genesisHash })).rejects.toThrow(WrongChainError);
      expect(await store.chain()).toEqual({ chainId: 1, genesisHash });
    });

    test('a new index is empty', async () => {
      expect(await store.head()).toBeUndefined();
      expect(await store.finalizedNumber()).toBeUndefined();
      expect(await store.chain()).toBeUndefined();
      expect(await store.block(0)).toBeUndefined();
    });
  });

  unavailableBlocksContract(engine, prepare);
  if (!without.includes('histories')) addressTracesContract(engine, prepare, { ...notes, every });
}

/** Paths near that of a frame, most of which do not exist. */
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
  if (hasTooMany(traces, filter)) {
    const tooMany = { name: TooManyTracesError.name, limit: filter.count };
    return expect(async () => store.filter(filter, MAX_BYTES), JSON.stringify(filter)).rejects.toMatchObject(
      tooMany,
    );
  }
  const expected = stringifyTraces(referenceFilter(traces, filter));
  expectText(await store.filter(filter, MAX_BYTES), expected, JSON.stringify(filter));
}

/** Compares the exact text, including the order of members; parses it only to show a difference. */
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
    wantsAll: random.chance(0.3),
  });
}
