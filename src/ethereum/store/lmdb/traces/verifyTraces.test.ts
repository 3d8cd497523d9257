import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, open } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../../../../test/support/random.ts';
import { syntheticAddresses, syntheticBlock } from '../../../../../test/support/syntheticChain.ts';
import { type Hash, indexBlock } from '../../../traces/index.ts';
import { openTraceStore, verifyTraces } from './index.ts';

/** Over a segment's end, with lists on disk and some that are not. */
const FIRST = 1_000;
const BLOCKS = 60;

describe('verifying an index', () => {
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-verify-'));
    const store = openTraceStore(folder, { maxRecentPositions: 300, listsPerMerge: 10 });
    const random = new Random(9);
    const shape = { addresses: syntheticAddresses(6), maxTransactions: 12, maxFrames: 5 };
    let parentHash: Hash | undefined;
    let mostTraces = 0;
    for (let number = FIRST; number < FIRST + BLOCKS; number++) {
      const maxTransactions = number % 20 === 0 ? 300 : shape.maxTransactions;
      const { header, traces } = syntheticBlock(
        random,
        { ...shape, maxTransactions },
        { number, parentHash },
      );
      mostTraces = Math.max(mostTraces, traces.length);
      parentHash = header.hash;
      await store.apply({ blocks: [indexBlock(header, traces)] });
    }
    await store.close();
    expect(mostTraces, 'a block as long as those of mainnet').toBeGreaterThan(300);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const verified = () => verifyTraces(folder, () => undefined);

  it('finds nothing in one that is whole', async () => {
    expect(await verified()).toEqual([]);
  });

  it.each<{
    what: string;
    name: string;
    damage: (database: Database<Buffer, Buffer>) => unknown;
    message: RegExp;
  }>([
    {
      what: 'a list that is missing',
      name: 'postings',
      damage: (lists) => lists.remove(someKey(lists)),
      message: /is not that of its traces/,
    },
    {
      what: 'a list that lost its last position',
      name: 'postings',
      damage: (lists) => {
        const key = someKey(lists);
        const value = lists.get(key) ?? Buffer.alloc(0);
        return lists.put(key, value.subarray(0, value.length - 4));
      },
      message: /is not that of its traces/,
    },
    {
      what: 'a block that is missing',
      name: 'blocks',
      damage: (blocks) => blocks.remove(someKey(blocks)),
      message: /in one list of blocks and not/,
    },
    {
      what: 'a block of another chain',
      name: 'blocks',
      damage: (blocks) => {
        const key = someKey(blocks);
        const value = Buffer.from(blocks.get(key) ?? '');
        value.fill(7, 0, 64);
        return blocks.put(key, value);
      },
      message: /is not the child of|are not those of/,
    },
    {
      what: 'a chunk that is missing',
      name: 'chunks-0',
      damage: (chunks) => chunks.remove(someKey(chunks)),
      message: /the index is damaged/,
    },
  ])('finds $what', async ({ name, damage, message }) => {
    const options = { keyEncoding: 'binary', encoding: 'binary' } as const;
    const root = open<Buffer, Buffer>({ path: folder, maxDbs: 20, ...options });
    await damage(root.openDB<Buffer, Buffer>({ name, ...options }));
    await root.close();
    const problems = await verified().catch((error: Error) => [error.message]);
    expect(problems.join('\n')).toMatch(message);
  });
});

function someKey(database: Database<Buffer, Buffer>): Buffer {
  const keys = [...database.getKeys()];
  return keys[Math.floor(keys.length / 2)] ?? Buffer.alloc(0);
}
