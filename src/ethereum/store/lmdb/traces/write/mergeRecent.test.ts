import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { referenceFilter } from '../../../../../../test/support/plainFilter.ts';
import { Random } from '../../../../../../test/support/random.ts';
import {
  type SyntheticBlock,
  syntheticAddresses,
  syntheticBlock,
} from '../../../../../../test/support/syntheticChain.ts';
import {
  indexBlock,
  MAX_COUNT,
  type TraceFilter,
  type TraceStore,
  termOf,
} from '../../../../traces/index.ts';
import { TraceEnvironment } from '../environment.ts';
import { IndexState } from '../indexState.ts';
import { openTraceReader, openTraceStore } from '../traceStore.ts';
import { mergeRecent } from './mergeRecent.ts';

const shape = { addresses: syntheticAddresses(12), maxTransactions: 4, maxFrames: 4 };
const FIRST = 100;
const LISTS_PER_STEP = 5;

let path: string;
const random = new Random(21);

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'floodgate-merge-'));
});
afterEach(() => rm(path, { recursive: true, force: true }));

const grow = (chain: readonly SyntheticBlock[], count: number): SyntheticBlock[] => {
  const blocks = [...chain];
  for (let i = 0; i < count; i++)
    blocks.push(
      syntheticBlock(random, shape, {
        number: FIRST + blocks.length,
        parentHash: blocks.at(-1)?.header.hash,
      }),
    );
  return blocks;
};

const indexed = (blocks: readonly SyntheticBlock[]) =>
  blocks.map(({ header, traces }) => indexBlock(header, traces));

/** Runs the first steps of a merge, then stops as if the process died. */
async function mergeSome(steps: number): Promise<number> {
  const environment = TraceEnvironment.open(path);
  const state = new IndexState(environment);
  state.refreshSnapshot();
  let done = 0;
  for (const writes of mergeRecent({ segment: 0, listsPerStep: LISTS_PER_STEP }, { environment, state })) {
    if (done === steps) break;
    await environment.root.batch(() => writes.execute());
    environment.root.resetReadTxn();
    done++;
  }
  await environment.root.close();
  return done;
}

async function expectAnswersOf(
  store: Pick<TraceStore, 'filter'>,
  chain: readonly SyntheticBlock[],
): Promise<void> {
  const traces = chain.flatMap((block) => block.traces);
  for (const address of shape.addresses)
    for (const side of ['fromAddresses', 'toAddresses'] as const) {
      const filter: TraceFilter = {
        fromBlock: FIRST,
        toBlock: FIRST + chain.length - 1,
        fromAddresses: [],
        toAddresses: [],
        mode: 'union',
        after: 0,
        count: MAX_COUNT,
        [side]: [address],
      };
      const answer = await store.filter(filter, Infinity);
      expect(JSON.parse(Buffer.from(answer ?? '').toString())).toEqual(referenceFilter(traces, filter));
    }
}

test('a merge interrupted after any step neither loses nor duplicates postings', async () => {
  let chain = grow([], 12);
  let store = openTraceStore(path);
  await store.apply({ blocks: indexed(chain) });
  await store.close();
  for (let steps = 0; ; steps++) {
    const done = await mergeSome(steps);
    const reader = openTraceReader(path);
    await expectAnswersOf(reader, chain);
    await reader.close();
    store = openTraceStore(path);
    await expectAnswersOf(store, chain);
    // Removes the end of the chain, which is partly merged, and extends it again.
    const kept = chain.slice(0, -2);
    chain = grow(kept, 2 + (steps % 3));
    await store.apply({ undoFrom: FIRST + kept.length, blocks: indexed(chain.slice(kept.length)) });
    await expectAnswersOf(store, chain);
    await store.close();
    if (done < steps) break;
  }
});

test('after a merge all postings are on disk and none are recent', async () => {
  const chain = grow([], 12);
  const store = openTraceStore(path);
  await store.apply({ blocks: indexed(chain) });
  await store.close();
  expect(await mergeSome(Infinity)).toBeGreaterThan(3);
  const environment = TraceEnvironment.open(path);
  const state = new IndexState(environment);
  state.refreshSnapshot();
  expect(state.unmerged()).toEqual([]);
  expect(state.recent.size).toBe(0);
  await environment.root.close();
  const reader = openTraceReader(path);
  await expectAnswersOf(reader, chain);
  await reader.close();
});

/** Opens an index again that has only recent blocks, and observes the reads of chunks. */
async function openedAgain() {
  const chain = grow([], 3);
  const store = openTraceStore(path);
  await store.apply({ blocks: indexed(chain) });
  await store.close();
  const environment = TraceEnvironment.open(path);
  onTestFinished(() => environment.root.close());
  const [root] = chain[0]?.traces ?? [];
  return {
    state: new IndexState(environment),
    chunksRead: vi.spyOn(environment, 'chunks'),
    transaction: termOf(root?.transactionHash ?? ''),
  };
}

test('an opened index reads the chunks of its recent blocks only when an operation needs their posting lists', async () => {
  const { state, chunksRead, transaction } = await openedAgain();
  state.setWriting(false);
  expect(state.head()?.number).toBe(FIRST + 2);
  expect(chunksRead).not.toHaveBeenCalled();
  expect(state.postings(0, 'transaction', transaction)?.length).toBe(1);
  expect(chunksRead).toHaveBeenCalled();
});

test('after loadRecent(), no operation reads the chunks of recent blocks for their posting lists', async () => {
  const { state, chunksRead, transaction } = await openedAgain();
  state.refreshSnapshot();
  state.loadRecent();
  expect(chunksRead).toHaveBeenCalled();
  chunksRead.mockClear();
  expect(state.postings(0, 'transaction', transaction)?.length).toBe(1);
  expect(chunksRead).not.toHaveBeenCalled();
});

test('a reader returns the traces of each change of the writer after refresh()', async () => {
  let chain = grow([], 4);
  const store = openTraceStore(path, { maxRecentPositions: 30, listsPerMerge: 5 });
  await store.apply({ blocks: indexed(chain) });
  const reader = openTraceReader(path);
  for (let changes = 0; changes < 12; changes++) {
    const kept = chain.slice(0, -(changes % 3) || undefined);
    chain = grow(kept, 1 + (changes % 4));
    const undoFrom = FIRST + kept.length;
    await store.apply({ undoFrom, blocks: indexed(chain.slice(kept.length)) });
    reader.refresh();
    if (changes % 2 === 0) reader.loadRecent();
    expect((await reader.head())?.hash).toBe(chain.at(-1)?.header.hash);
    await expectAnswersOf(reader, chain);
  }
  await reader.close();
  await store.close();
});
