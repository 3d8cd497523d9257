import { afterEach, beforeEach, expect, test } from 'vitest';
import { lmdbTraces } from '../../../test/contract/lmdbTraces.ts';
import { Random } from '../../../test/support/random.ts';
import {
  type SyntheticBlock,
  syntheticAddresses,
  syntheticBlock,
} from '../../../test/support/syntheticChain.ts';
import { until } from '../../../test/support/until.ts';
import { NodeError } from '../nodes/index.ts';
import { type Hash, MAX_RANGE_BLOCKS, type TraceStore } from '../traces/index.ts';
import { type BlockMeter, Indexer, type IndexerObserver, NoSpaceError } from './index.ts';
import type { IndexerOptions } from './indexer.ts';
import type { ChainSource } from './pooledSource.ts';

/** Number of blocks that clients can request: those below the range that is indexed at the start. */
const OLD = 300;
const LENGTH = OLD + MAX_RANGE_BLOCKS;
const GENESIS = `0x${'7'.repeat(64)}` as Hash; // 32 bytes
const shape = { addresses: syntheticAddresses(4), maxTransactions: 2, maxFrames: 2 };

const blocks: SyntheticBlock[] = [];
const random = new Random(17);
while (blocks.length < LENGTH)
  blocks.push(
    syntheticBlock(random, shape, { number: blocks.length, parentHash: blocks.at(-1)?.header.hash }),
  );

/** A node that records the requested blocks, and fails on request. */
class Node implements ChainSource {
  readonly asked: number[] = [];
  fails = false;
  readonly knownHeads = { latest: blocks.at(-1)?.header as SyntheticBlock['header'] }; // the chain is not empty
  chain = async () => ({ chainId: 1, genesisHash: GENESIS });
  heads = async () => this.knownHeads;
  freshHeads = async () => this.knownHeads;
  blockRef = async (number: number) => blocks[number]?.header;
  block = async (number: number) => {
    this.asked.push(number);
    if (this.fails) throw new NodeError('unreachable', 'the node is unreachable');
    return blocks[number];
  };
}

let data: Awaited<ReturnType<typeof lmdbTraces>>;
let store: TraceStore;
let indexer: Indexer | undefined;
let node: Node;
let evicted = 0;
let noSpace: string | undefined;
const failures: unknown[] = [];

beforeEach(async () => {
  data = await lmdbTraces();
  store = await data.open();
  node = new Node();
  evicted = 0;
  noSpace = undefined;
  failures.length = 0;
});
afterEach(async () => {
  await indexer?.stop();
  await store.close();
  await data.remove();
});

const nothing = () => undefined;
const observer: IndexerObserver = {
  indexed: nothing,
  reorganised: nothing,
  recovered: nothing,
  filled: nothing,
  unavailable: nothing,
  available: nothing,
  gapClosed: nothing,
  repaired: nothing,
  failed: (error) => failures.push(error),
  evicted: (count) => {
    evicted += count;
  },
};

const start = (options: Partial<IndexerOptions>): Indexer => {
  indexer = new Indexer(
    { pollIntervalMs: 5, finality: { depth: 10 }, pinnedMs: 1, ...options },
    { store, source: node, observer, noSpace: () => noSpace },
  );
  indexer.start();
  return indexer;
};

async function started(options: Partial<IndexerOptions> = {}): Promise<Indexer> {
  const running = start(options);
  await until('the head to be indexed', async () => (await store.head())?.number === LENGTH - 1);
  node.asked.length = 0;
  return running;
}

const onDemandBytes = (): number => store.onDemand?.bytes() ?? Number.NaN;

/** Stops the indexer, and opens the store again. */
async function restart(options: Partial<IndexerOptions>): Promise<Indexer> {
  await indexer?.stop();
  await store.close();
  store = await data.open();
  node.asked.length = 0;
  return start(options);
}

test('the oldest blocks that clients requested are evicted above the budget, and fetched again if requested', async () => {
  const unlimited = await started();
  await unlimited.ensure(0, 99);
  const hundred = onDemandBytes();
  await restart({ onDemandBytes: hundred });
  for (let first = 100; first < OLD - 10; first += 10) {
    await indexer?.ensure(first, first + 9);
    expect(await store.firstMissing(first, first + 9)).toBeUndefined();
  }
  // The indexer reports blocks after it has removed them.
  await until('the blocks to fit into the budget', () => onDemandBytes() <= hundred && evicted > 50);
  expect(onDemandBytes()).toBeGreaterThan(hundred * 0.8);
  expect(await store.firstMissing(0, 0)).toBe(0);
  expect(await store.firstMissing(OLD, LENGTH - 1)).toBeUndefined();
  node.asked.length = 0;
  await indexer?.ensure(0, 9);
  expect(node.asked.sort((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, i) => i));
});

test('with a budget of 0, blocks are complete when ensure() resolves, and are removed later', async () => {
  const running = await started({ onDemandBytes: 0, pinnedMs: 3_000 });
  await running.ensure(0, OLD - 1);
  expect(await store.firstMissing(0, LENGTH - 1)).toBeUndefined();
  await until('the removal of all requested blocks to be reported', () => evicted === OLD);
  expect(onDemandBytes()).toBe(0);
  expect(await store.firstMissing(0, LENGTH - 1)).toBe(0);
  expect(await store.firstMissing(OLD, LENGTH - 1)).toBeUndefined();
});

test('concurrent requests above the budget find all their blocks, without a warning of too many listeners', async () => {
  const running = await started({ onDemandBytes: 0, pinnedMs: 100 });
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on('warning', warned);
  const requests = Array.from({ length: 40 }, async (_, i) => {
    const first = (i * 37) % (OLD - 20);
    await running.ensure(first, first + 9);
    return store.firstMissing(first, first + 9);
  });
  expect(new Set(await Promise.all(requests))).toEqual(new Set([undefined]));
  await until('all requested blocks to be removed', () => onDemandBytes() === 0);
  process.off('warning', warned);
  expect(warnings).toEqual([]);
});

test('blocks that ingest fills in are never evicted, even if a client requested them before', async () => {
  const running = await started();
  await running.ensure(50, 119);
  await restart({ onDemandBytes: 0, fromBlock: 100 });
  await until(
    'the older blocks to be filled in',
    async () => (await store.firstMissing(100, OLD)) === undefined,
  );
  await until('the other blocks to be evicted', () => onDemandBytes() === 0);
  expect(await store.firstMissing(50, 99)).toBe(50);
  expect(node.asked.some((number) => number < 120)).toBe(false);
  await indexer?.ensure(95, 110);
  await until('the requested blocks to be evicted', async () => (await store.firstMissing(95, 99)) === 95);
  expect(await store.firstMissing(100, LENGTH - 1)).toBeUndefined();
});

class Meter implements BlockMeter {
  left: number;
  turns = 0;
  traces = 0;
  constructor(left: number) {
    this.left = left;
  }
  charge(count: number): void {
    if (count > this.left) throw new RangeError(`${count} blocks are too many`);
    this.left -= count;
  }
  refund(count: number): void {
    this.left += count;
  }
  turn(): Promise<void> {
    this.turns++;
    return Promise.resolve();
  }
  fetched(count: number): void {
    this.traces += count;
  }
}

test('each block that is fetched is charged once, and indexed blocks cost nothing', async () => {
  const running = await started();
  const meter = new Meter(100);
  await Promise.all([
    running.ensure(0, 79, meter),
    running.ensure(0, 79, meter),
    running.ensure(40, 79, meter),
  ]);
  expect(meter.left).toBe(20);
  await running.ensure(0, 79, meter);
  await running.ensure(OLD, LENGTH - 1, meter);
  expect(meter.left).toBe(20);
  const traces = blocks.slice(0, 80).reduce((sum, block) => sum + block.traces.length, 0);
  expect([meter.turns, meter.traces]).toEqual([80, traces]);
});

test('no block is fetched if the client may not have all missing blocks of the range', async () => {
  const running = await started();
  const meter = new Meter(100);
  await expect(running.ensure(0, 100, meter)).rejects.toThrow(RangeError);
  expect(node.asked).toEqual([]);
  expect(meter.left).toBe(100);
});

test('blocks that no node returns are refunded', async () => {
  const running = await started();
  const meter = new Meter(100);
  node.fails = true;
  await expect(running.ensure(0, 99, meter)).rejects.toThrow(/no node returns it/);
  expect(meter.left).toBe(100);
  node.fails = false;
  await running.ensure(0, 99, meter);
  expect(meter.left).toBe(0);
});

test('without space no block is fetched or written, and ingest continues when space is free', async () => {
  const running = start({});
  noSpace = 'the disk is nearly full';
  await until('a failed pass', () => failures.some((error) => error instanceof NoSpaceError));
  const head = await store.head();
  node.asked.length = 0;
  await expect(running.ensure(0, 9)).rejects.toThrow(NoSpaceError);
  expect(node.asked).toEqual([]);
  expect(await store.head()).toEqual(head);
  expect(running.status().failure).toBe('the disk is nearly full');
  noSpace = undefined;
  await until('the head to be indexed', async () => (await store.head())?.number === LENGTH - 1);
  await running.ensure(0, 9);
});
