import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { historyBlock } from '../../../../test/support/historyBlock.ts';
import { Random } from '../../../../test/support/random.ts';
import { syntheticAddresses } from '../../../../test/support/syntheticChain.ts';
import { until } from '../../../../test/support/until.ts';
import { SharedTurn } from '../../jsonrpc/index.ts';
import { type IndexedBlock, indexBlock, MAX_TRACES_PER_BLOCK } from '../../traces/index.ts';
import { Subscribers } from './subscribers.ts';
import { TraceFeed } from './traceFeed.ts';

const ADDRESSES = syntheticAddresses(2);
const WANTED = { addresses: ADDRESSES, direction: 'either', filter: {} } as const;

/** Blocks that are parent and child. */
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
  const told: { blockNumber: number; removed: boolean }[] = [];
  const heard = { told, missed: 0 };
  const sink = {
    push: (text: string): void => void told.push(JSON.parse(text)),
    missed: (): void => void heard.missed++,
  };
  return { heard, sink };
}

const atOnce = async (work: Generator<void>): Promise<void> => void [...work];

describe('TraceFeed', () => {
  const random = new Random(3);

  it('tells of what it did not see: blocks that were left out, or that stand on others', () => {
    for (const isLeftOut of [true, false]) {
      const feed = new TraceFeed(atOnce);
      const { heard, sink } = listener();
      feed.add(WANTED, sink);
      const [first, second, third] = blocks(random, 100, 3).map((block) => ({ blocks: [block] }));
      const other = { blocks: blocks(random, 101, 1) };
      if (first === undefined || second === undefined || third === undefined)
        throw new Error('three were made');
      feed.followed(first);
      expect(heard.missed).toBe(0);
      feed.followed(isLeftOut ? third : other);
      expect(heard.missed).toBe(1);
      const late = listener();
      feed.add(WANTED, late.sink);
      feed.followed({ undoFrom: 101, blocks: second.blocks });
      expect([heard.missed, late.heard.missed]).toEqual([1, 0]);
    }
  });

  it('has changes told as long as somebody wants them, and misses none that were not', async () => {
    const asked: boolean[] = [];
    const feed = new TraceFeed(atOnce, async (areWanted) => void asked.push(areWanted));
    const [first, second, third] = [listener(), listener(), listener()];
    const subscriptions = [feed.add(WANTED, first.sink), feed.add(WANTED, second.sink)];
    expect(asked).toEqual([true]);
    expect(subscriptions[0]?.begun).toBeInstanceOf(Promise);
    expect(subscriptions[1]?.begun).toBe(subscriptions[0]?.begun);
    feed.followed({ blocks: blocks(random, 1, 1) });
    subscriptions[0]?.end();
    expect(asked).toEqual([true]);
    subscriptions[1]?.end();
    expect(asked).toEqual([true, false]);
    feed.add(WANTED, third.sink);
    expect(asked).toEqual([true, false, true]);
    feed.followed({ blocks: blocks(random, 9, 10) });
    await until('it is told', () => third.heard.told.length > 0);
    expect(third.heard.missed).toBe(0);
  });

  it('tells of what it does not remember any more, and only those who were told of it', async () => {
    const subscribers = new Subscribers(1_000);
    const [early, late] = [listener(), listener()];
    const wanted = { keys: ['a'], matches: () => true };
    const item = { keys: ['a'], text: JSON.stringify({ blockNumber: 1, input: 'x'.repeat(900) }) };
    subscribers.add(wanted, early.sink);
    await atOnce(subscribers.tell({ blockNumber: 1, moment: subscribers.moment() }, [item]));
    subscribers.add(wanted, late.sink);
    await atOnce(subscribers.tell({ blockNumber: 2, moment: subscribers.moment() }, [item]));
    await atOnce(subscribers.takeBack(2));
    expect(
      [early, late].map(({ heard }) => [heard.told.map(({ removed }) => removed), heard.missed]),
    ).toEqual([
      [[false, false, true], 0],
      [[false, true], 0],
    ]);
    await atOnce(subscribers.takeBack(1));
    expect([early.heard.missed, late.heard.missed]).toEqual([1, 0]);
  });

  it('holds no more than it may where it cannot tell as fast as blocks come', () => {
    const feed = new TraceFeed(() => new Promise(() => undefined));
    const { heard, sink } = listener();
    feed.add(WANTED, sink);
    const big = blocks(random, 1, 3).map((block) => ({
      ...block,
      block: { ...block.block, traceCount: MAX_TRACES_PER_BLOCK },
    }));
    for (const block of big) feed.followed({ blocks: [block] });
    expect(heard.missed).toBe(1);
  });

  it('tells a thousand subscribers of a hot block in turns', async () => {
    const turn = new SharedTurn(3);
    let longestMs = 0;
    const feed = new TraceFeed(async (work) => {
      let startMs = performance.now();
      for (const _ of work)
        while (turn.isOver) {
          longestMs = Math.max(longestMs, performance.now() - startMs);
          await turn.next();
          startMs = performance.now();
        }
    });
    const SUBSCRIBERS = 1_000;
    const listeners = Array.from({ length: SUBSCRIBERS }, () => ({ count: 0 }));
    for (const one of listeners) feed.add(WANTED, { push: () => void one.count++, missed: () => undefined });
    const many = blocks(random, 1, 40);
    feed.followed({ blocks: many });
    let turns = 0;
    const traces = many.reduce((sum, { block }) => sum + block.traceCount, 0);
    await until('all are told', async () => {
      await nextTurn();
      turns++;
      return listeners.every(({ count }) => count === traces);
    });
    expect(turns).toBeGreaterThan(1);
    // No time is asserted: a busy machine stops anybody anywhere. It is 3 ms and what one push takes.
    expect(longestMs).toBeGreaterThan(0);
  });
});
