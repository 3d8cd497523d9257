import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { historyBlock } from '../../../../../../test/support/historyBlock.ts';
import { referenceHistory } from '../../../../../../test/support/plainHistory.ts';
import { Random } from '../../../../../../test/support/random.ts';
import { syntheticAddresses } from '../../../../../../test/support/syntheticChain.ts';
import { until } from '../../../../../../test/support/until.ts';
import {
  type Address,
  type CallTrace,
  type Hash,
  type HistoryPage,
  indexBlock,
  JsonWriter,
  type Trace,
  type TraceStore,
} from '../../../../traces/index.ts';
import { TraceEnvironment } from '../environment.ts';
import { IndexState } from '../indexState.ts';
import { openTraceStore } from '../traceStore.ts';
import { verifyTraces } from '../verifyTraces.ts';
import { NO_RUN } from './segmentStates.ts';

const SEGMENT_BLOCKS = 1024;
const ADDRESSES = syntheticAddresses(60);

let path: string;
let random: Random;
let traces: Trace[];
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'floodgate-positions-'));
  random = new Random(43);
  traces = [];
});
afterEach(() => rm(path, { recursive: true, force: true }));

const startOf = (segment: number): number => segment * SEGMENT_BLOCKS + 5;

/** Waits until all segments but the last are in a run. */
const untilAllInRuns = (): Promise<unknown> =>
  until('the directory is built', () => {
    const environment = TraceEnvironment.open(path, { readOnly: true });
    try {
      const state = new IndexState(environment);
      state.refreshSnapshot();
      const states = state.segmentStates();
      return Array.from({ length: states.length - 1 }, (_, i) => states.levelOf(i)).every(
        (level) => level !== NO_RUN,
      );
    } finally {
      void environment.root.close();
    }
  });

test('addressTraces finds an address with one, several, or too many traces for its positions to be in the run', async () => {
  const store = openTraceStore(path, { maxRecentPositions: 1, listsPerMerge: 500 });
  try {
    for (let segment = 0; segment < 10; segment++)
      await addCalls(store, callsOf(segment), { first: startOf(segment) });
    await untilAllInRuns();
    await expectPages(store);
    // Replaces the last blocks, and adds blocks to a segment in the middle.
    await addCalls(store, callsOf(3), { first: startOf(9) + 1, isUndone: true });
    await addCalls(store, callsOf(6), { first: startOf(4) + 20 });
    await expectPages(store);
    await addCalls(store, callsOf(10), { first: startOf(10) });
    await untilAllInRuns();
    await expectPages(store);
    expect(await verifyTraces(path, () => undefined)).toEqual([]);
  } finally {
    await store.close();
  }
});

type Call = readonly [from: Address, to: Address];

/**
 * Returns calls in which address n is the sender n times and the recipient 12 - n times, including one call to itself.
 */
function callsOf(segment: number): Call[] {
  const calls: Call[] = [];
  for (let n = 1; n < 12; n++) {
    if ((n + segment) % 3 === 0) continue;
    const one = ADDRESSES[n] as Address;
    for (let i = 0; i < n; i++) calls.push([one, i === 0 ? one : (ADDRESSES[20 + i] as Address)]);
    for (let i = 1; i < 12 - n; i++) calls.push([ADDRESSES[30 + i] as Address, one]);
  }
  return calls;
}

/** Adds three blocks with these calls, each in its own transaction. */
async function addCalls(
  store: TraceStore,
  calls: readonly Call[],
  { first, isUndone = false }: { readonly first: number; readonly isUndone?: boolean },
): Promise<void> {
  if (isUndone) traces = traces.filter(({ blockNumber }) => blockNumber < first);
  let parentHash = isUndone ? traces.at(-1)?.blockHash : undefined;
  const blocks = [0, 1, 2].map((part) => {
    const { header } = historyBlock(random, ADDRESSES, { number: first + part, parentHash });
    parentHash = header.hash;
    const own = calls
      .filter((_, i) => i % 3 === part)
      .map(([from, to], transactionPosition): Trace => {
        // The casts brand text that has the right format.
        const action = {
          callType: 'call',
          from,
          gas: '0x1',
          input: '0x',
          to,
          value: '0x1',
        } as CallTrace['action'];
        const transactionHash = random.hex(32) as Hash;
        const place = {
          blockHash: header.hash,
          blockNumber: header.number,
          transactionHash,
          transactionPosition,
        };
        return { action, ...place, result: null, subtraces: 0, traceAddress: [], type: 'call' };
      });
    traces.push(...own);
    return indexBlock(header, own);
  });
  traces.sort((a, b) => a.blockNumber - b.blockNumber);
  await store.apply({ ...(isUndone && { undoFrom: first }), blocks });
}

/** Compares the history of each address page by page with the expected one, for both orders and all directions. */
async function expectPages(store: TraceStore): Promise<void> {
  const json = new JsonWriter();
  const range = { fromBlock: 0, toBlock: traces.at(-1)?.blockNumber ?? 0 };
  const few = { ...range, fromBlock: 2 * SEGMENT_BLOCKS + 6, toBlock: 8 * SEGMENT_BLOCKS + 5 };
  for (let n = 1; n < 12; n++)
    for (const [order, direction, within] of [
      ['desc', 'either', range],
      ['asc', 'from', few],
      ['desc', 'to', few],
    ] as const) {
      const addresses = [ADDRESSES[n], ...(n % 4 === 0 ? [ADDRESSES[n - 1]] : [])] as Address[];
      const query = { addresses, direction, order, filter: {}, limit: 7, ...within };
      const found: Trace[] = [];
      let behind: HistoryPage['next'];
      do {
        json.reset();
        ({ next: behind } = await store.addressTraces(
          { ...query, ...(behind && { cursor: behind }) },
          1e9,
          json,
        ));
        found.push(...(JSON.parse(json.written().toString()) as Trace[]));
      } while (behind !== undefined);
      expect(found).toEqual(referenceHistory(traces, query, within));
    }
}
