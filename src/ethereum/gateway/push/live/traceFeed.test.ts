import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { historyBlock } from '../../../../../test/support/historyBlock.ts';
import { Random } from '../../../../../test/support/random.ts';
import { syntheticAddresses } from '../../../../../test/support/syntheticChain.ts';
import { blockOfTrees, randomTree } from '../../../../../test/support/syntheticTree.ts';
import { until } from '../../../../../test/support/until.ts';
import { TimeSlice } from '../../../jsonrpc/index.ts';
import {
  type Address,
  type Data,
  type IndexedBlock,
  indexBlock,
  indexUnavailable,
  MAX_TRACES_PER_BLOCK,
  type Trace,
} from '../../../traces/index.ts';
import { Subscribers } from './subscribers.ts';
import { type FeedTurns, TraceFeed } from './traceFeed.ts';

const ADDRESSES = syntheticAddresses(2);
const WANTED = { addresses: ADDRESSES, direction: 'either', filter: {} } as const;

/** Returns consecutive blocks of one chain. */
function blocks(random: Random, first: number, count: number): IndexedBlock[] {
  const made: IndexedBlock[] = [];
  for (let number = first; made.length < count; number++) {
    const parentHash = made.at(-1)?.block.hash;
    const { header, traces } = historyBlock(random, ADDRESSES, { number, parentHash });
    made.push(indexBlock(header, traces));
  }
  return made;
}

function listener() {
  const reported: { blockNumber: number; removed: boolean }[] = [];
  const heard = { reported, missed: 0 };
  const sink = {
    client: '192.0.2.1',
    push: (text: string): void => void reported.push(JSON.parse(text)),
    missed: (): void => void heard.missed++,
  };
  return { heard, sink };
}

const atOnce = async (work: Generator<void>): Promise<void> => void [...work];
const AT_ONCE: FeedTurns = { find: atOnce, deliver: atOnce };

describe('TraceFeed', () => {
  const random = new Random(3);

  it('reports missed notifications if blocks were skipped or have another parent', () => {
    for (const isLeftOut of [true, false]) {
      const feed = new TraceFeed(AT_ONCE);
      const { heard, sink } = listener();
      feed.add(WANTED, sink);
      const [first, second, third] = blocks(random, 100, 3).map((block) => ({ blocks: [block] }));
      const other = { blocks: blocks(random, 101, 1) };
      if (first === undefined || second === undefined || third === undefined)
        throw new Error('three blocks expected');
      feed.indexChanged(first);
      expect(heard.missed).toBe(0);
      feed.indexChanged(isLeftOut ? third : other);
      expect(heard.missed).toBe(1);
      const late = listener();
      feed.add(WANTED, late.sink);
      feed.indexChanged({ undoFrom: 101, blocks: second.blocks });
      expect([heard.missed, late.heard.missed]).toEqual([1, 0]);
    }
  });

  it('notifies every subscriber of a block that no node can trace, and of its removal', async () => {
    const feed = new TraceFeed(AT_ONCE);
    const [one, other] = [listener(), listener()];
    feed.add(WANTED, one.sink);
    feed.add({ ...WANTED, addresses: syntheticAddresses(3).slice(2), filter: { failed: true } }, other.sink);
    const [first, second] = blocks(random, 100, 2);
    if (first === undefined || second === undefined) throw new Error('two blocks expected');
    const { number, hash, parentHash, timestamp } = second.block;
    const header = { number, hash, parentHash, timestamp, transactionHashes: [] };
    feed.indexChanged({ blocks: [first, indexUnavailable(header, 'oversized')] });
    feed.indexChanged({ undoFrom: number, blocks: [] });
    const notice = { blockNumber: number, blockHash: hash, unavailable: 'oversized' };
    await until('the removal is sent', () => other.heard.reported.length === 2);
    expect(other.heard.reported).toEqual([
      { ...notice, removed: false },
      { ...notice, removed: true },
    ]);
    expect(one.heard.reported.slice(-2)).toEqual(other.heard.reported);
    expect([one.heard.missed, other.heard.missed]).toEqual([0, 0]);
  });

  it('requests changes while it has subscribers, and reports no missed changes from before', async () => {
    const asked: boolean[] = [];
    const feed = new TraceFeed(AT_ONCE, async (areWanted) => void asked.push(areWanted));
    const [first, second, third] = [listener(), listener(), listener()];
    const subscriptions = [feed.add(WANTED, first.sink), feed.add(WANTED, second.sink)];
    expect(asked).toEqual([true]);
    expect(subscriptions[0]?.ready).toBeInstanceOf(Promise);
    expect(subscriptions[1]?.ready).toBe(subscriptions[0]?.ready);
    feed.indexChanged({ blocks: blocks(random, 1, 1) });
    subscriptions[0]?.end();
    expect(asked).toEqual([true]);
    subscriptions[1]?.end();
    expect(asked).toEqual([true, false]);
    feed.add(WANTED, third.sink);
    expect(asked).toEqual([true, false, true]);
    feed.indexChanged({ blocks: blocks(random, 9, 10) });
    await until('the traces are sent', () => third.heard.reported.length > 0);
    expect(third.heard.missed).toBe(0);
  });

  it('reports a forgotten block as missed, only to subscribers that received it', async () => {
    const subscribers = new Subscribers({ rememberedBytes: 1_000 });
    const [early, late] = [listener(), listener()];
    const wanted = { wanted: [new Set(['a'])], accepts: () => true };
    const item = { values: [['a']], text: JSON.stringify({ blockNumber: 1, input: 'x'.repeat(900) }) };
    subscribers.add(wanted, early.sink);
    await atOnce(subscribers.send({ blockNumber: 1, moment: subscribers.moment() }, [item]));
    subscribers.add(wanted, late.sink);
    await atOnce(subscribers.send({ blockNumber: 2, moment: subscribers.moment() }, [item]));
    await atOnce(subscribers.sendRemoved(2));
    await atOnce(subscribers.deliver());
    expect(
      [early, late].map(({ heard }) => [heard.reported.map(({ removed }) => removed), heard.missed]),
    ).toEqual([
      [[false, false, true], 0],
      [[false, true], 0],
    ]);
    await atOnce(subscribers.sendRemoved(1));
    expect([early.heard.missed, late.heard.missed]).toEqual([1, 0]);
  });

  it('drops waiting changes above the limit if blocks arrive faster than they are sent', () => {
    const never = (): Promise<void> => new Promise(() => undefined);
    const feed = new TraceFeed({ find: never, deliver: never });
    const { heard, sink } = listener();
    feed.add(WANTED, sink);
    const big = blocks(random, 1, 3).map((block) => ({
      ...block,
      block: { ...block.block, traceCount: MAX_TRACES_PER_BLOCK },
    }));
    for (const block of big) feed.indexChanged({ blocks: [block] });
    expect(heard.missed).toBe(1);
  });

  it('notifies 1,000 subscribers of a large block in time slices', async () => {
    const turn = new TimeSlice(3);
    let longestMs = 0;
    const inTurns = async (work: Generator<void>): Promise<void> => {
      let startMs = performance.now();
      for (const _ of work)
        while (turn.isExpired) {
          longestMs = Math.max(longestMs, performance.now() - startMs);
          await turn.next();
          startMs = performance.now();
        }
    };
    const feed = new TraceFeed({ find: inTurns, deliver: inTurns });
    const SUBSCRIBERS = 1_000;
    const listeners = Array.from({ length: SUBSCRIBERS }, () => ({ count: 0 }));
    for (const one of listeners)
      feed.add(WANTED, { client: '192.0.2.1', push: () => void one.count++, missed: () => undefined });
    const many = blocks(random, 1, 40);
    feed.indexChanged({ blocks: many });
    let turns = 0;
    const traces = many.reduce((sum, { block }) => sum + block.traceCount, 0);
    await until('all are notified', async () => {
      await nextTurn();
      turns++;
      return listeners.every(({ count }) => count === traces);
    });
    expect(turns).toBeGreaterThan(1);
    // The duration is not asserted, because a busy machine can pause a test at any time. Expected: 3 ms plus one push.
    expect(longestMs).toBeGreaterThan(0);
  });
});

describe('a block whose traces are far larger than it', () => {
  it('is pushed trace by trace, and is not kept for a reorg', async () => {
    const random = new Random(4);
    const [address] = ADDRESSES as [Address]; // two addresses
    const data = `0x${'5a'.repeat(100_000)}` as Data; // hex digits
    const { header, traces } = blockOfTrees(random, 7, [randomTree(random, 1_000, 10)]);
    const calls = traces.map(
      (trace): Trace =>
        trace.type === 'call' ? { ...trace, action: { ...trace.action, to: address, input: data } } : trace,
    );
    const feed = new TraceFeed(AT_ONCE);
    let [pushed, missed] = [0, 0];
    feed.add(WANTED, { client: '192.0.2.1', push: () => void pushed++, missed: () => void missed++ });
    feed.indexChanged({ blocks: [indexBlock(header, calls)] });
    await nextTurn();
    expect(pushed).toBe(1_000);
    feed.indexChanged({ undoFrom: 7, blocks: [] });
    await nextTurn();
    expect({ pushed, missed }).toEqual({ pushed: 1_000, missed: 1 });
  });
});
