import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RpcError } from '../../jsonrpc/index.ts';
import type { Hash } from '../../traces/index.ts';
import { FilterIds } from './filterIds.ts';
import { OpenFilters } from './openFilters.ts';
import { PolledFilter } from './polledFilter.ts';

const SECRET = Buffer.alloc(32, 7);
const block = (number: number) => ({ number, hash: `0x${number.toString(16).padStart(64, 'b')}` as Hash }); // 32 bytes
const CONTEXT = {
  mayStream: false,
  room: { charge: () => true, credit: () => undefined, givePlace: () => undefined },
};
const LOGS = { address: `0x${'ab'.repeat(20)}`, topics: [null, `0x${'cd'.repeat(32)}`], fromBlock: '0x1' };

describe('the id of a filter', () => {
  it('says what it is of to whoever has the secret, as a number that a client may read and write', () => {
    const ids = new FilterIds('mainnet', SECRET);
    for (const logs of [LOGS, {}, undefined]) {
      const { id, name } = ids.make({ logs, since: block(5) });
      expect(new FilterIds('mainnet', SECRET).read(id)).toEqual({ name, logs, since: block(5) });
      expect(`0x${BigInt(id).toString(16)}`).toBe(id);
      expect(ids.make({ logs, since: block(5) }).name).not.toBe(name);
    }
  });

  it('is none where it is made up, cut, changed, of another network or another secret', () => {
    const ids = new FilterIds('mainnet', SECRET);
    const { id } = ids.make({ logs: LOGS, since: block(5) });
    for (let at = 2; at < id.length; at += 7) {
      const digit = id[at] === 'a' ? 'b' : 'a';
      expect(ids.read(id.slice(0, at) + digit + id.slice(at + 1))).toBeUndefined();
      expect(ids.read(id.slice(0, at))).toBeUndefined();
    }
    for (const other of [
      '',
      '0x',
      '0x1',
      `0x11${'00'.repeat(80)}`,
      id.repeat(3),
      `${id}00`,
      'x'.repeat(2 ** 20),
    ])
      expect(ids.read(other)).toBeUndefined();
    expect(new FilterIds('sepolia', SECRET).read(id)).toBeUndefined();
    expect(new FilterIds('mainnet', Buffer.alloc(32, 8)).read(id)).toBeUndefined();
  });
});

describe('open filters', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('end when they are not asked for, and are known as ended', () => {
    const open = new OpenFilters<{ stop(): void }>({ forgetMs: 1_000, maxPerClient: 2, max: 3, maxEnded: 2 });
    const stopped: string[] = [];
    const add = (name: string, client: string) =>
      open.add(name, client, () => ({ stop: () => void stopped.push(name) }));
    add('a', 'x');
    add('b', 'x');
    vi.advanceTimersByTime(900);
    expect(open.get('a')).toBeDefined();
    vi.advanceTimersByTime(900);
    expect([stopped, open.hasEnded('b'), open.hasEnded('a')]).toEqual([['b'], true, false]);
    add('c', 'x');
    expect(() => add('d', 'x')).toThrow(RpcError);
    add('d', 'y');
    expect(() => add('e', 'z')).toThrow(/of all clients/);
    for (const name of ['a', 'c']) open.end(name);
    expect(['a', 'b', 'c'].map((name) => open.hasEnded(name))).toEqual([true, false, true]);
    open.stop();
    expect(stopped).toEqual(['b', 'a', 'c', 'd']);
  });
});

describe('a filter that is polled', () => {
  function polled(room = Number.POSITIVE_INFINITY) {
    const seen = { subscribed: 0, held: 0, tip: block(10), behind: [] as number[] };
    let answer: () => Promise<string[]> = async () => ['read'];
    const filter = new PolledFilter(block(5), {
      subscribe: () => {
        seen.subscribed++;
        return () => void seen.subscribed--;
      },
      tip: () => seen.tip,
      read: ({ number }) => {
        seen.behind.push(number);
        return answer();
      },
      held: {
        take(bytes) {
          if (seen.held + bytes > room) return false;
          seen.held += bytes;
          return true;
        },
        giveBack(bytes) {
          seen.held -= bytes;
        },
      },
    });
    const answers = (next: typeof answer): void => {
      answer = next;
    };
    return { filter, seen, answers };
  }

  it('has what was pushed since the last time, once, and asks nobody', async () => {
    const { filter, seen } = polled();
    filter.begin();
    for (const text of ['1', '2']) filter.push(text);
    expect(await filter.changes(CONTEXT)).toEqual(['1', '2']);
    filter.push('3');
    expect([await filter.changes(CONTEXT), await filter.changes(CONTEXT)]).toEqual([['3'], []]);
    expect(seen).toMatchObject({ subscribed: 1, held: 0, behind: [] });
    filter.stop();
    expect(seen.subscribed).toBe(0);
  });

  it('reads what was not pushed: from where it was made, or from where its client had everything', async () => {
    const { filter, seen, answers } = polled(5);
    // Made elsewhere. What is pushed while it reads is not lost.
    answers(async () => {
      filter.push('new');
      return ['old'];
    });
    expect(await filter.changes(CONTEXT)).toEqual(['old', 'new']);
    expect(seen.behind).toEqual([5]);
    // More than there is room for: it is given up, and read when it is asked for.
    for (const text of ['123', '456', '789']) filter.push(text);
    expect(seen).toMatchObject({ subscribed: 0, held: 0 });
    answers(async () => ['all']);
    expect(await filter.changes(CONTEXT)).toEqual(['all']);
    expect(seen.behind).toEqual([5, 10]);
    filter.missed();
    expect(await filter.changes(CONTEXT)).toEqual(['all']);
  });

  it('stays where it was when reading fails, and reads once for two that ask at the same time', async () => {
    const { filter, seen, answers } = polled();
    answers(() => Promise.reject(new Error('no node')));
    await expect(filter.changes(CONTEXT)).rejects.toThrow('no node');
    expect(seen).toMatchObject({ subscribed: 0, behind: [5] });
    answers(async () => ['1']);
    expect(await Promise.all([filter.changes(CONTEXT), filter.changes(CONTEXT)])).toEqual([['1'], []]);
    expect(seen).toMatchObject({ subscribed: 1, behind: [5, 5] });
  });
});
