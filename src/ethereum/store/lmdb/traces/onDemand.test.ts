import { afterEach, beforeEach, expect, test } from 'vitest';
import { lmdbTraces } from '../../../../../test/contract/lmdbTraces.ts';
import { referenceFilter } from '../../../../../test/support/plainFilter.ts';
import { Random } from '../../../../../test/support/random.ts';
import { sizeInSearch } from '../../../../../test/support/search.ts';
import {
  type SyntheticBlock,
  syntheticAddresses,
  syntheticBlock,
} from '../../../../../test/support/syntheticChain.ts';
import {
  indexBlock,
  indexUnavailable,
  MAX_COUNT,
  type TraceFilter,
  type TraceStore,
} from '../../../traces/index.ts';
import { TraceEnvironment } from './environment.ts';
import { IndexState } from './indexState.ts';
import { openTraceReader } from './traceStore.ts';
import { verifyTraces } from './verifyTraces.ts';
import { mergeRecent } from './write/mergeRecent.ts';

/** The blocks are in two segments: the boundary is at block 1,024. */
const FIRST = 1_000;
const BLOCKS = 60;
const ROUNDS = sizeInSearch(300, { ordinary: 80 });
const shape = { addresses: syntheticAddresses(6), maxTransactions: 5, maxFrames: 4 };
const noneIsPinned = () => false;

let data: Awaited<ReturnType<typeof lmdbTraces>>;
let store: TraceStore;

beforeEach(async () => {
  data = await lmdbTraces({ maxRecentPositions: 150, listsPerMerge: 7 });
  store = await data.open();
});
afterEach(async () => {
  await store.close();
  await data.remove();
});

function chainOf(random: Random, length: number, before: readonly SyntheticBlock[] = []): SyntheticBlock[] {
  const chain = [...before];
  while (chain.length < length)
    chain.push(
      syntheticBlock(random, shape, { number: FIRST + chain.length, parentHash: chain.at(-1)?.header.hash }),
    );
  return chain;
}

const indexed = (blocks: readonly (SyntheticBlock | undefined)[]) =>
  blocks.flatMap((block) => (block === undefined ? [] : indexBlock(block.header, block.traces)));

const onDemandOf = (of: TraceStore) => {
  if (of.onDemand === undefined) throw new Error('the store does not distinguish on-demand blocks');
  return of.onDemand;
};

/** Expects that the index has exactly these blocks of the chain, and answers each run of them correctly. */
async function expectBlocks(
  of: Pick<TraceStore, 'filter' | 'firstMissing'>,
  chain: readonly SyntheticBlock[],
  present: ReadonlySet<number>,
): Promise<void> {
  for (let number = FIRST; number < FIRST + chain.length; number++)
    expect(await of.firstMissing(number, number)).toBe(present.has(number) ? undefined : number);
  for (let from = FIRST; from < FIRST + chain.length; from++) {
    if (!present.has(from) || present.has(from - 1)) continue;
    let to = from;
    while (present.has(to + 1)) to++;
    const traces = chain.slice(from - FIRST, to - FIRST + 1).flatMap((block) => block.traces);
    const addresses = shape.addresses.slice(0, 3);
    for (const address of addresses)
      for (const asked of [
        { fromAddresses: [address] },
        { toAddresses: [address] },
        { fromAddresses: [address], toAddresses: addresses, mode: 'intersection' as const },
      ]) {
        const filter: TraceFilter = {
          fromBlock: from,
          toBlock: to,
          fromAddresses: [],
          toAddresses: [],
          mode: 'union',
          after: 0,
          count: MAX_COUNT,
          ...asked,
        };
        const answer = await of.filter(filter, Infinity);
        expect(JSON.parse(Buffer.from(answer ?? 'null').toString())).toEqual(referenceFilter(traces, filter));
      }
  }
}

test('on-demand blocks are evicted oldest first, and other blocks never', async () => {
  const chain = chainOf(new Random(1), 40);
  await store.apply({ blocks: indexed(chain.slice(30)) });
  expect(onDemandOf(store).bytes()).toBe(0);
  await store.apply({ blocks: indexed(chain.slice(10, 20)), onDemand: true });
  const first = onDemandOf(store).bytes();
  await store.apply({ blocks: indexed(chain.slice(0, 5)), onDemand: true });
  const both = onDemandOf(store).bytes();
  expect(first).toBeGreaterThan(0);
  expect(both).toBeGreaterThan(first);

  expect(await onDemandOf(store).evict(both, noneIsPinned)).toBe(0);
  expect(await onDemandOf(store).evict(both - 1, noneIsPinned)).toBe(1);
  expect(await store.firstMissing(FIRST + 10, FIRST + 19)).toBe(FIRST + 10);
  expect(await onDemandOf(store).evict(both - first, noneIsPinned)).toBe(9);
  expect(onDemandOf(store).bytes()).toBe(both - first);
  await onDemandOf(store).evict(0, noneIsPinned);
  expect(onDemandOf(store).bytes()).toBe(0);
  await expectBlocks(store, chain, new Set(Array.from({ length: 10 }, (_, i) => FIRST + 30 + i)));
});

test('an eviction skips pinned blocks and the head', async () => {
  const chain = chainOf(new Random(2), 10);
  await store.apply({ blocks: indexed(chain), onDemand: true });
  expect(await onDemandOf(store).evict(0, (number) => number === FIRST + 3)).toBe(8);
  await expectBlocks(store, chain, new Set([FIRST + 3, FIRST + 9]));
});

test('blocks of a range that is kept are not on demand any more', async () => {
  const chain = chainOf(new Random(3), 10);
  await store.apply({ blocks: indexed(chain), onDemand: true });
  await onDemandOf(store).keep(FIRST + 2, FIRST + 4);
  await onDemandOf(store).evict(0, noneIsPinned);
  await expectBlocks(store, chain, new Set([FIRST + 2, FIRST + 3, FIRST + 4, FIRST + 9]));
});

test('an on-demand block without traces is evicted, and remains on demand if it gets its traces', async () => {
  const chain = chainOf(new Random(4), 4);
  const [one, two] = chain as [SyntheticBlock, SyntheticBlock];
  await store.apply({ blocks: indexed(chain.slice(2)) });
  const unavailable = [one, two].map(({ header }) => indexUnavailable(header, 'timeout'));
  await store.apply({ blocks: unavailable, onDemand: true });
  const before = onDemandOf(store).bytes();
  await store.apply({ blocks: indexed([two]) });
  expect(onDemandOf(store).bytes()).toBeGreaterThan(before);
  expect(await onDemandOf(store).evict(0, noneIsPinned)).toBe(2);
  expect(await store.unavailable(0, FIRST + 10, 10)).toEqual([]);
  await expectBlocks(store, chain, new Set([FIRST + 2, FIRST + 3]));
  expect(await verifyTraces(data.path, () => undefined)).toEqual([]);
});

/** Runs the first steps of a merge, then stops as if the process died. */
async function interruptedMerge(segment: number, steps: number): Promise<void> {
  const environment = TraceEnvironment.open(data.path);
  const state = new IndexState(environment);
  state.refreshSnapshot();
  let left = steps;
  for (const writes of mergeRecent({ segment, listsPerStep: 5 }, { environment, state })) {
    if (left-- === 0) break;
    await environment.commit(() => writes.execute());
    environment.root.resetReadTxn();
  }
  await environment.close();
}

test('random additions, evictions, reorganisations and restarts leave exactly the expected blocks', async () => {
  const random = new Random(5);
  let chain = chainOf(random, BLOCKS);
  const present = new Set<number>();
  /** Numbers of the on-demand blocks, oldest first. */
  let onDemand: number[] = [];
  const add = async (numbers: readonly number[], isOnDemand: boolean): Promise<void> => {
    const fresh = numbers.filter((number) => !present.has(number));
    await store.apply({ blocks: indexed(fresh.map((n) => chain[n - FIRST])), onDemand: isOnDemand });
    for (const number of fresh) present.add(number);
    if (isOnDemand) onDemand.push(...fresh);
  };
  await add([FIRST + BLOCKS - 2, FIRST + BLOCKS - 1], false);
  const reader = openTraceReader(data.path);
  for (let round = 0; round < ROUNDS; round++) {
    const from = FIRST + random.below(BLOCKS - 2);
    const range = Array.from({ length: 1 + random.below(12) }, (_, i) => from + i).filter(
      (number) => number < FIRST + chain.length - 1,
    );
    switch (random.below(6)) {
      case 0:
      case 1:
        await add(range, true);
        break;
      case 2: {
        const count = random.below(onDemand.length + 1);
        const isPinned = (number: number) => number % 7 === 0;
        const total = onDemandOf(store).bytes();
        const evicted = await onDemandOf(store).evict((total * count) / (onDemand.length + 1), isPinned);
        const gone = new Set(onDemand.filter((number) => !isPinned(number)).slice(0, evicted));
        for (const number of gone) present.delete(number);
        onDemand = onDemand.filter((number) => !gone.has(number));
        break;
      }
      case 3:
        await onDemandOf(store).keep(from, from + 2);
        onDemand = onDemand.filter((number) => number < from || number > from + 2);
        break;
      case 4: {
        // The last blocks are replaced. The first of them may be on demand.
        const undoFrom = FIRST + chain.length - 1 - random.below(6);
        chain = chainOf(random, BLOCKS, chain.slice(0, undoFrom - FIRST));
        const replaced = Array.from({ length: FIRST + BLOCKS - undoFrom }, (_, i) => undoFrom + i);
        await store.apply({ undoFrom, blocks: indexed(replaced.map((n) => chain[n - FIRST])) });
        for (const number of replaced) present.add(number);
        onDemand = onDemand.filter((number) => number < undoFrom);
        break;
      }
      default:
        await store.close();
        await interruptedMerge(random.below(2), random.below(4));
        store = await data.open();
    }
    reader.refresh();
    for (const each of [store, reader]) await expectBlocks(each, chain, present);
    if (round % 10 === 0) expect(await verifyTraces(data.path, () => undefined)).toEqual([]);
  }
  expect(present.size).toBeGreaterThan(2);
  await reader.close();
});

test('a filter that runs while its blocks are evicted returns all traces or none', async () => {
  const slow = await lmdbTraces({ workPerTurn: 1 });
  const searched = await slow.open();
  const random = new Random(6);
  const chain = chainOf(random, 40);
  const traces = chain.slice(0, 30).flatMap((block) => block.traces);
  const filter: TraceFilter = {
    fromBlock: FIRST,
    toBlock: FIRST + 29,
    fromAddresses: [...shape.addresses],
    toAddresses: [],
    mode: 'union',
    after: 0,
    count: MAX_COUNT,
  };
  try {
    await searched.apply({ blocks: indexed(chain.slice(30)) });
    const expected = JSON.stringify(referenceFilter(traces, filter));
    const seen = new Set<string>();
    for (let round = 0; round < 30; round++) {
      await searched.apply({ blocks: indexed(chain.slice(0, 30)), onDemand: true });
      const running = searched.filter(filter, Infinity);
      const evicting = onDemandOf(searched).evict(0, noneIsPinned);
      for (let i = 0; i < round; i++) await new Promise(setImmediate);
      const answer = await running;
      seen.add(answer === undefined ? 'none' : JSON.stringify(JSON.parse(Buffer.from(answer).toString())));
      await evicting;
    }
    expect([...seen].filter((text) => text !== 'none' && text !== expected)).toEqual([]);
    expect(seen).toContain('none');
  } finally {
    await searched.close();
    await slow.remove();
  }
});

test('a reader that has loaded the lists of recent blocks reads blocks with a new dictionary', async () => {
  const reader = openTraceReader(data.path);
  try {
    reader.loadRecent();
    const random = new Random(8);
    const many = { ...shape, maxTransactions: 40, maxFrames: 20 };
    const chain: SyntheticBlock[] = [];
    for (let number = FIRST; chain.length < 20; number++)
      chain.push(syntheticBlock(random, many, { number, parentHash: chain.at(-1)?.header.hash }));
    await store.apply({ blocks: indexed(chain) });
    reader.refresh();
    await expectBlocks(reader, chain, new Set(chain.map(({ header }) => header.number)));
    const environment = TraceEnvironment.open(data.path, { readOnly: true });
    expect(environment.newestDictionary()).toBe(1);
    await environment.close();
  } finally {
    await reader.close();
  }
});

test.each([
  { added: 'a block of another segment', number: FIRST + 5, isAnswered: true },
  { added: 'the last block of its segment', number: FIRST + 55, isAnswered: true },
  { added: 'a block before its own', number: FIRST + 30, isAnswered: false },
  { added: 'a block after its own', number: FIRST + 51, isAnswered: false },
])(
  'if $added is added while a filter runs, the filter is answered: $isAnswered',
  async ({ number, isAnswered }) => {
    const slow = await lmdbTraces({ workPerTurn: 1 });
    const searched = await slow.open();
    const chain = chainOf(new Random(7), BLOCKS);
    const own = chain.slice(40, 50);
    const filter: TraceFilter = {
      fromBlock: FIRST + 40,
      toBlock: FIRST + 49,
      fromAddresses: [...shape.addresses],
      toAddresses: [],
      mode: 'union',
      after: 0,
      count: MAX_COUNT,
    };
    const parsed = (answer: Uint8Array | undefined) => answer && JSON.parse(Buffer.from(answer).toString());
    try {
      await searched.apply({ blocks: indexed([...chain.slice(10, 15), ...own, ...chain.slice(53, 54)]) });
      const expected = referenceFilter(
        own.flatMap((block) => block.traces),
        filter,
      );
      let turns = 0;
      const nextTurn = async (): Promise<void> => {
        if (++turns === 3) await searched.apply({ blocks: indexed([chain[number - FIRST]]), onDemand: true });
      };
      const answer = parsed(await searched.filter(filter, Infinity, { nextTurn }));
      expect(turns).toBeGreaterThanOrEqual(3);
      expect(answer).toEqual(isAnswered ? expected : undefined);
      expect(parsed(await searched.filter(filter, Infinity))).toEqual(expected);
    } finally {
      await searched.close();
      await slow.remove();
    }
  },
);
