import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { historyBlock } from '../../../../../../test/support/historyBlock.ts';
import { plainSummary, referenceHistory } from '../../../../../../test/support/plainHistory.ts';
import { Random } from '../../../../../../test/support/random.ts';
import { syntheticAddresses } from '../../../../../../test/support/syntheticChain.ts';
import { until } from '../../../../../../test/support/until.ts';
import {
  type Address,
  type Hash,
  indexBlock,
  JsonWriter,
  PAGE_POSITIONS,
  type Trace,
  type TraceStore,
} from '../../../../traces/index.ts';
import { encodeRecord } from '../checksum.ts';
import { TraceEnvironment } from '../environment.ts';
import { IndexState } from '../indexState.ts';
import { openTraceStore } from '../traceStore.ts';
import { verifyTraces } from '../verifyTraces.ts';
import { DIRECTORY_KEY } from './directoryKeys.ts';
import { HalfSipHash } from './halfSipHash.ts';
import { NO_RUN } from './segmentStates.ts';

const SEGMENT_BLOCKS = 1024;
const ADDRESSES = syntheticAddresses(60);
const MERGED_ALWAYS = { maxRecentPositions: 1, listsPerMerge: 500 };

let path: string;
let random: Random;
let traces: Trace[];
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'floodgate-directory-'));
  random = new Random(41);
  traces = [];
});
afterEach(() => rm(path, { recursive: true, force: true }));

/** Adds a few blocks to a segment. Each segment has some addresses of its own; the first address is in all. */
async function addTo(store: TraceStore, segment: number, offset = 5): Promise<void> {
  const home = [ADDRESSES[0] as Address, ...ADDRESSES.slice(1 + segment * 2, 7 + segment * 2)];
  const blocks = [];
  let parent: Hash | undefined;
  for (let number = segment * SEGMENT_BLOCKS + offset; blocks.length < 4; number++) {
    const block = historyBlock(random, home, { number, parentHash: parent });
    parent = block.header.hash;
    traces = [...traces, ...block.traces];
    blocks.push(indexBlock(block.header, block.traces));
  }
  traces = [...traces].sort((a, b) => a.blockNumber - b.blockNumber);
  await store.apply({ blocks });
}

/** Returns the level of the run of each segment, or undefined if the segment has no blocks. */
function levels(): (number | undefined)[] {
  const environment = TraceEnvironment.open(path, { readOnly: true });
  try {
    const state = new IndexState(environment);
    state.refreshSnapshot();
    const states = state.segmentStates();
    return Array.from({ length: states.length }, (_, i) =>
      states.hasBlocks(i) ? states.levelOf(i) : undefined,
    );
  } finally {
    void environment.root.close();
  }
}

const untilLevels = (expected: (number | undefined)[]): Promise<unknown> =>
  until('the directory is built', () => JSON.stringify(levels()) === JSON.stringify(expected));

async function expectPlain(store: Pick<TraceStore, 'addressTraces' | 'addressSummary'>): Promise<void> {
  const toBlock = traces.at(-1)?.blockNumber ?? 0;
  const range = { fromBlock: 0, toBlock };
  for (const address of ADDRESSES.filter((_, i) => i % 6 === 0)) {
    const query = {
      addresses: [address],
      direction: 'either',
      order: 'desc',
      filter: {},
      limit: 200,
    } as const;
    const json = new JsonWriter();
    await store.addressTraces({ ...query, ...range }, 1e9, json);
    expect(JSON.parse(json.written().toString())).toEqual(
      referenceHistory(traces, query, range).slice(0, 200),
    );
    const { counts, value, ...rest } = await store.addressSummary({ address, ...range });
    expect({ ...rest, counts: counts.by, value: value.by }).toMatchObject(
      plainSummary(traces, address, range),
    );
    expect(counts.range).toEqual(range);
  }
}

test('runs of eight segments are merged into one, and a changed segment is read directly until it is in a run again', async () => {
  const store = openTraceStore(path, MERGED_ALWAYS);
  try {
    for (let segment = 0; segment < 11; segment++) await addTo(store, segment);
    const made = [...new Array(8).fill(1), 0, 0, NO_RUN];
    await untilLevels(made);
    await expectPlain(store);
    await addTo(store, 3, 100);
    expect(levels()[3]).toBe(NO_RUN);
    await expectPlain(store);
    await addTo(store, 12);
    await untilLevels([1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, undefined, NO_RUN]);
    await expectPlain(store);
    expect(await verifyTraces(path, () => undefined)).toEqual([]);
  } finally {
    await store.close();
  }
});

test('runs match the chain if blocks are replaced while the runs are built', async () => {
  // Lists are merged occasionally, so after a reorg some postings of a segment are in memory only.
  const store = openTraceStore(path, { maxRecentPositions: 60, listsPerMerge: 9 });
  try {
    for (let segment = 0; segment < 9; segment++) await addTo(store, segment);
    for (let round = 1; round <= 12; round++) {
      const undoFrom = random.between(5, 8) * SEGMENT_BLOCKS + random.between(0, 20 * round);
      traces = traces.filter(({ blockNumber }) => blockNumber < undoFrom);
      await store.apply({ undoFrom, blocks: [] });
      for (let segment = Math.floor(undoFrom / SEGMENT_BLOCKS); segment < 9; segment++)
        await addTo(store, segment, 20 * round + 5);
      if (round % 4 === 0) await expectPlain(store);
    }
    // Its many postings cause the earlier ones to be merged.
    for (let offset = 500; offset < 540; offset += 10) await addTo(store, 8, offset);
    for (const segment of [9, 10, 11]) await addTo(store, segment);
    await until('the directory is built', () =>
      levels()
        .slice(0, 8)
        .every((level) => level === 1),
    );
    await expectPlain(store);
    expect(await verifyTraces(path, () => undefined)).toEqual([]);
  } finally {
    await store.close();
  }
});

test('a run covers a segment with more lists than one read returns, and with lists of several pages', async () => {
  const store = openTraceStore(path, MERGED_ALWAYS);
  try {
    const addresses = syntheticAddresses(1_000);
    let parentHash: Hash | undefined;
    const blocks = Array.from({ length: 300 }, (_, number) => {
      const block = historyBlock(random, addresses, { number, parentHash });
      parentHash = block.header.hash;
      return indexBlock(block.header, block.traces);
    });
    const often = blocks.flatMap(({ postings }) => postings.to.terms.filter((term) => term === addresses[0]));
    expect(often.length).toBeGreaterThan(PAGE_POSITIONS);
    await store.apply({ blocks });
    await addTo(store, 1);
    await untilLevels([0, NO_RUN]);
    expect(await verifyTraces(path, () => undefined)).toEqual([]);
  } finally {
    await store.close();
  }
});

test('verifyTraces finds an address that is missing in the directory, and attributes of other traces', async () => {
  const store = openTraceStore(path, MERGED_ALWAYS);
  for (let segment = 0; segment < 3; segment++) await addTo(store, segment);
  await untilLevels([0, 0, NO_RUN]);
  await store.close();
  const environment = TraceEnvironment.open(path);
  const runs = environment.directory(0);
  const [first, second] = [...(runs?.getKeys({ limit: 2 }) ?? [])];
  if (runs === undefined || first === undefined || second === undefined)
    throw new Error('the directory has no run');
  runs.putSync(second, encodeRecord(second, runs.getBinary(second)?.subarray(0, 27) ?? Buffer.of()));
  const [block] = [...(environment.attributes?.getKeys({ limit: 1 }) ?? [])];
  environment.attributes?.putSync(block ?? first, encodeRecord(block ?? first, Buffer.alloc(200)));
  await environment.root.close();
  const problems = await verifyTraces(path, () => undefined);
  expect(problems.join('\n')).toMatch(/the directory .* of 0x[0-9a-f]{40}/);
  expect(problems.join('\n')).toMatch(/the attributes of block \d+ do not match its traces/);
});

test.each(['while the index is open', 'while it is closed'])(
  'a lost key of the directory leads to an error, and the directory is built again: %s',
  async (when) => {
    const withMeta = async <T>(use: (meta: TraceEnvironment['meta']) => T): Promise<Awaited<T>> => {
      const environment = TraceEnvironment.open(path);
      const result = await use(environment.meta);
      await environment.root.close();
      return result;
    };
    let store = openTraceStore(path, MERGED_ALWAYS);
    // A run with several buckets.
    const addresses = syntheticAddresses(1_000);
    const blocks = [historyBlock(random, addresses, { number: 5, parentHash: undefined })];
    while (blocks.length < 20) {
      const parentHash = blocks.at(-1)?.header.hash;
      blocks.push(historyBlock(random, addresses, { number: 5 + blocks.length, parentHash }));
    }
    traces = blocks.flatMap((one) => one.traces);
    await store.apply({ blocks: blocks.map((one) => indexBlock(one.header, one.traces)) });
    await addTo(store, 1);
    await untilLevels([0, NO_RUN]);
    if (when === 'while it is closed') await store.close();
    await withMeta((meta) => meta.remove(DIRECTORY_KEY));
    if (when === 'while the index is open') {
      await addTo(store, 2);
      await expect(expectPlain(store)).rejects.toThrow('the hash key of the directory is missing');
      await addTo(store, 3);
      await store.close();
      expect(levels()).toEqual([0, NO_RUN, NO_RUN, NO_RUN]);
      expect(await withMeta((meta) => meta.doesExist(DIRECTORY_KEY))).toBe(false);
    }
    store = openTraceStore(path, MERGED_ALWAYS);
    await addTo(store, 4);
    await until('the directory is built', () => levels()[0] === 0 && levels()[1] === 0);
    await expectPlain(store);
    await store.close();
    expect(await verifyTraces(path, () => undefined)).toEqual([]);
  },
);

test('HalfSipHash-2-4 matches the published test vectors', () => {
  // vectors_hsip32 of the reference implementation: key 00 to 07, inputs of 0 and 4 bytes 00, 01, 02, …
  const key = Buffer.from([0, 1, 2, 3, 4, 5, 6, 7]);
  const input = Uint8Array.from({ length: 20 }, (_, i) => i);
  const hash = new HalfSipHash(key);
  expect(hash.of(input, 0, 0).toString(16)).toBe('5b9f35a9');
  expect(hash.of(input, 0, 4).toString(16)).toBe('89466e2a');
});
