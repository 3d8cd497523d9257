import { afterEach, expect, it, vi } from 'vitest';
import type { BlockRef } from '../../../nodes/index.ts';
import type { Hash } from '../../../traces/index.ts';
import { HeadFeed, type LiveBlock, REMEMBERED_BLOCKS } from './headFeed.ts';

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
      ancestors: () => [],
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

/** Follows the chain of a test whose head each call of `become` replaces. The parent of each known block is known. */
function startOn(first: LiveBlock, ancestors: readonly LiveBlock[] = []) {
  const blocks = new Map([first, ...ancestors].map((block) => [block.hash, block]));
  const seen: string[] = [];
  let head = first;
  let missed = 0;
  const feed = new HeadFeed(
    { retryMs: RETRY_MS },
    {
      head: () => head,
      ancestors: () => {
        const known: BlockRef[] = [];
        for (
          let block: LiveBlock | undefined = head;
          block !== undefined;
          block = blocks.get(block.parentHash)
        )
          known.unshift({ number: block.number - 1, hash: block.parentHash });
        return known;
      },
      async block(wanted) {
        const block = blocks.get(wanted);
        if (block === undefined) throw new Error('no node has it');
        return block;
      },
      async changed({ undone, added }) {
        seen.push(
          ...undone.map(nameOf).map((name) => `-${name}`),
          ...added.map(nameOf).map((name) => `+${name}`),
        );
      },
      missed: () => void missed++,
    },
  );
  feed.start();
  return {
    missed: () => missed,
    /** Returns the changes that follow when these blocks are added, the last one as the head. */
    async become(...added: readonly LiveBlock[]) {
      for (const block of added) blocks.set(block.hash, block);
      head = added.at(-1) ?? head;
      feed.headChanged();
      await vi.advanceTimersByTimeAsync(RETRY_MS);
      return seen.splice(0);
    },
    stop: () => feed.stop(),
  };
}

/** Number and branch of a block of `on`. */
const nameOf = ({ number, hash }: { readonly number: number; readonly hash: string }): string =>
  `${number}${hash.slice(2, 3)}`;

/** A block of a branch, which is a hex digit, on a parent of a branch. */
const on = (number: number, branch: string, parentBranch: string): LiveBlock => ({
  number,
  hash: hashOn(number, branch),
  parentHash: hashOn(number - 1, parentBranch),
  header: '{}',
  logsBloom: undefined,
});
const hashOn = (number: number, branch: string) => `0x${branch}${hash(number).slice(3)}` as Hash; // 32 bytes

it('reorganisations of all announced blocks are announced', async () => {
  vi.useFakeTimers();
  const chain = startOn(on(8, 'a', 'a'));
  expect(await chain.become(on(8, 'b', 'a'))).toEqual(['+8b']);
  expect(await chain.become(on(8, 'a', 'a'))).toEqual(['-8b', '+8a']);
  expect(await chain.become(on(8, 'b', 'a'), on(9, 'b', 'b'))).toEqual(['-8a', '+8b', '+9b']);
  expect(await chain.become(on(7, 'a', 'a'))).toEqual(['-9b', '-8b']);
  expect(chain.missed()).toBe(0);
  chain.stop();
});

it.each([
  ['whose first block is older than all known blocks', [on(6, 'b', 'a'), on(7, 'b', 'b'), on(8, 'b', 'b')]],
  ['whose first block is next to the lowest known block', [on(7, 'b', 'b'), on(8, 'b', 'b')]],
  ['to a block that is older than all known blocks', [on(5, 'a', 'a')]],
])('a reorganisation %s is reported as missed, and the next one is announced', async (_name, blocks) => {
  vi.useFakeTimers();
  const chain = startOn(on(8, 'a', 'a'));
  expect(await chain.become(...blocks)).toEqual([]);
  expect(chain.missed()).toBe(1);
  const last = blocks.at(-1);
  const parent = blocks.at(-2);
  if (last === undefined) throw new Error('no block');
  const next = on(last.number, 'c', (parent ?? on(4, 'a', 'a')).hash.slice(2, 3));
  expect(await chain.become(next)).toEqual([`+${nameOf(next)}`]);
  expect(chain.missed()).toBe(1);
  chain.stop();
});

it('a reorganisation that began below the head at the start is announced from its first block', async () => {
  vi.useFakeTimers();
  const chain = startOn(on(8, 'a', 'a'), [on(6, 'a', 'a'), on(7, 'a', 'a')]);
  expect(await chain.become(on(7, 'b', 'a'), on(8, 'b', 'b'))).toEqual(['+7b', '+8b']);
  expect(await chain.become(on(6, 'a', 'a'))).toEqual(['-8b', '-7b']);
  expect(await chain.become(on(7, 'a', 'a'))).toEqual(['+7a']);
  expect(await chain.become(on(6, 'c', 'a'))).toEqual(['-7a', '+6c']);
  expect(chain.missed()).toBe(0);
  chain.stop();
});

it('a reorganisation of blocks that are no longer in memory is reported as missed', async () => {
  vi.useFakeTimers();
  const chain = startOn(on(8, 'a', 'a'));
  const last = 8 + REMEMBERED_BLOCKS;
  for (let number = 9; number <= last; number++) await chain.become(on(number, 'a', 'a'));
  expect(await chain.become(on(9, 'b', 'a'))).toEqual(expect.arrayContaining(['-9a', '+9b']));
  expect(chain.missed()).toBe(0);
  for (let number = 10; number <= last + 1; number++) await chain.become(on(number, 'b', 'b'));
  expect(await chain.become(on(9, 'c', 'a'))).toEqual([]);
  expect(chain.missed()).toBe(1);
  expect(await chain.become(on(9, 'd', 'a'))).toEqual(['+9d']);
  chain.stop();
});
