import { afterEach, expect, it, vi } from 'vitest';
import type { Hash } from '../../../traces/index.ts';
import { HeadFeed } from './headFeed.ts';

const RETRY_MS = 1_000;
const hash = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as Hash; // 32 bytes of hex digits
const refTo = (number: number) => ({ number, hash: hash(number), parentHash: hash(number - 1) });
const blockAt = (number: number) => ({ ...refTo(number), header: '{}', logsBloom: undefined });

afterEach(() => vi.useRealTimers());

it('a block that no node returns is asked for again after a pause, and then announced', async () => {
  vi.useFakeTimers();
  let head = 1;
  let asked = 0;
  let isAway = true;
  const announced: number[] = [];
  const feed = new HeadFeed(
    { retryMs: RETRY_MS },
    {
      head: () => refTo(head),
      async block(wanted) {
        asked++;
        if (isAway) throw new Error('no node has it');
        return blockAt(Number(wanted));
      },
      changed: async ({ added }) => void announced.push(...added.map(({ number }) => number)),
      missed: () => undefined,
    },
  );
  feed.start();
  head = 3;
  feed.headChanged();
  await vi.advanceTimersByTimeAsync(RETRY_MS - 1);
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toBe(2);
  isAway = false;
  await vi.advanceTimersByTimeAsync(RETRY_MS);
  expect(announced).toEqual([2, 3]);
  feed.stop();
});
