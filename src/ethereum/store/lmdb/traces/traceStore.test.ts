import { expect, test, vi } from 'vitest';
import { lmdbTraces } from '../../../../../test/contract/lmdbTraces.ts';
import { traceStoreContract } from '../../../../../test/contract/traceStore.ts';
import { Random } from '../../../../../test/support/random.ts';
import { blockOfTrees, randomTree } from '../../../../../test/support/syntheticTree.ts';
import { until } from '../../../../../test/support/until.ts';
import { type Hash, indexBlock, type NextTurn } from '../../../traces/index.ts';
import { IndexState } from './indexState.ts';

traceStoreContract('lmdb', () => lmdbTraces());

test('transactionTrace finds a frame of a transaction with 20,000 frames by binary search', async () => {
  const frames = 20_000;
  // Binary search, plus the root frame's chunk, its block, its posting list, and the frame's chunk again.
  const maxReads = Math.ceil(Math.log2(frames)) + 6;
  const { open, remove } = await lmdbTraces();
  const store = await open();
  const random = new Random(20);
  const trees = [randomTree(random, 3, 1), randomTree(random, frames, 300), randomTree(random, 3, 1)];
  const { header, traces } = blockOfTrees(random, 9, trees);
  await store.apply({ blocks: [indexBlock(header, traces)] });
  const hash = header.transactionHashes[1] as Hash; // transaction of the second of three trees
  const ofHash = traces.filter(({ transactionHash }) => transactionHash === hash);
  const reads = vi.spyOn(IndexState.prototype, 'read');
  const parses = vi.spyOn(JSON, 'parse');
  try {
    let most = 0;
    for (let i = 0; i < frames; i += 997) {
      reads.mockClear();
      const path = ofHash[i]?.traceAddress ?? [];
      expect(await store.transactionTrace(hash, path, { maxBytes: 10_000 })).toBeInstanceOf(Buffer);
      expect(await store.transactionTrace(hash, [...path, 2 ** 20], { maxBytes: 10_000 })).toBeNull();
      most = Math.max(most, reads.mock.calls.length / 2);
    }
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(maxReads);
    expect(parses).not.toHaveBeenCalled();
  } finally {
    vi.restoreAllMocks();
    await store.close();
    await remove();
  }
});

test('long reads continue only when `nextTurn` of their caller resolves', async () => {
  const { open, remove } = await lmdbTraces({ workPerTurn: 40 });
  const store = await open();
  const { header, traces } = blockOfTrees(new Random(22), 9, [randomTree(new Random(23), 600, 300)]);
  const [hash] = header.transactionHashes as [Hash]; // transaction of its only tree
  let nowMs = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++nowMs);
  const senders = [...new Set(traces.flatMap(({ action }) => ('from' in action ? [action.from] : [])))];
  const shape = { mode: 'union', after: 0, count: 1e6 } as const;
  const filter = { fromBlock: 9, toBlock: 9, fromAddresses: senders, toAddresses: [], ...shape };
  try {
    await store.apply({ blocks: [indexBlock(header, traces)] });
    for (const read of [
      (nextTurn?: NextTurn) => store.filter(filter, 1e9, { nextTurn }),
      (nextTurn?: NextTurn) => store.blockTraces(9, 1e9, nextTurn),
      (nextTurn?: NextTurn) => store.transactionTraces(hash, { maxBytes: 1e9, nextTurn }),
    ]) {
      const waiting: (() => void)[] = [];
      const reading = Promise.resolve(read(() => new Promise((resolve) => waiting.push(resolve))));
      const ends = vi.fn();
      void reading.then(ends);
      for (let i = 0; i < 10; i++) await new Promise(setImmediate);
      expect(waiting).toHaveLength(1);
      expect(ends).not.toHaveBeenCalled();
      while (ends.mock.calls.length === 0) {
        waiting.pop()?.();
        await new Promise(setImmediate);
      }
      expect(await reading).toEqual(await read());
    }
  } finally {
    clock.mockRestore();
    await store.close();
    await remove();
  }
});

test('a block of 6,000 traces is written in slices, and the read returns undefined if the block is replaced', async () => {
  const { open, remove } = await lmdbTraces();
  const store = await open();
  const random = new Random(21);
  const one = blockOfTrees(random, 9, [randomTree(random, 6_000, 300)]);
  const other = blockOfTrees(random, 9, [randomTree(random, 6_000, 300)]);
  const blocks = [one, other].map(({ header, traces }) => indexBlock(header, traces));
  const [hash] = one.header.transactionHashes as [Hash]; // transaction of its only tree
  // Each call of performance.now() advances by 1 ms, independent of the machine's speed.
  let nowMs = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++nowMs);
  try {
    await store.apply({ blocks: blocks.slice(0, 1) });
    const whole = JSON.stringify(one.traces);
    const frames = JSON.stringify(one.traces.filter(({ transactionHash }) => transactionHash === hash));
    for (const [read, expected] of [
      [() => store.blockTraces(9, 1e9), whole],
      [() => store.transactionTraces(hash, { maxBytes: 1e9 }), frames],
    ] as const) {
      let turns = 0;
      let isWaiting = true;
      const count = (): void => {
        turns++;
        if (isWaiting) setImmediate(count);
      };
      setImmediate(count);
      expect((await read())?.toString() === expected).toBe(true);
      isWaiting = false;
      expect(turns).toBeGreaterThan(10);
    }
    // The order of read and change is not fixed: the result is that of one block, or undefined.
    const seen = new Set<string>();
    await until('a read returns undefined', async () => {
      for (const block of [1, 0]) {
        const change = store.apply({ undoFrom: 9, blocks: blocks.slice(block, block + 1) });
        const text = (await store.blockTraces(9, 1e9))?.toString();
        if (text !== undefined) expect(text === whole || text === JSON.stringify(other.traces)).toBe(true);
        seen.add(text === undefined ? 'given up' : 'whole');
        await change;
      }
      return seen.has('given up');
    });
  } finally {
    clock.mockRestore();
    await store.close();
    await remove();
  }
});
