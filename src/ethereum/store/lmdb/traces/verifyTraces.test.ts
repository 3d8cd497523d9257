import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, open } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../../../../test/support/random.ts';
import { syntheticAddresses, syntheticBlock } from '../../../../../test/support/syntheticChain.ts';
import { type Hash, indexBlock, indexUnavailable } from '../../../traces/index.ts';
import { openTraceStore, verifyTraces } from './index.ts';

/** The blocks cross the end of a segment. Some of their lists are on disk, some are not. */
const FIRST = 1_000;
const BLOCKS = 60;
/** Blocks without traces, because no node could trace them. */
const UNAVAILABLE = [FIRST + 5, FIRST + 41];

describe('verifyTraces', () => {
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
      const indexed = UNAVAILABLE.includes(number)
        ? indexUnavailable(header, 'oversized')
        : indexBlock(header, traces);
      await store.apply({ blocks: [indexed] });
    }
    await store.close();
    expect(mostTraces, 'number of traces as in a mainnet block').toBeGreaterThan(300);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const verified = () => verifyTraces(folder, () => undefined);

  it('finds no problem in an intact index', async () => {
    expect(await verified()).toEqual([]);
  });

  it.each<{
    what: string;
    name: string;
    damage: (database: Database<Buffer, Buffer>) => unknown;
    message: RegExp;
  }>([
    {
      what: 'a missing posting list',
      name: 'postings',
      damage: (lists) => lists.remove(someKey(lists)),
      message: /does not match its traces/,
    },
    {
      what: 'a posting list without its last position',
      name: 'postings',
      damage: (lists) => {
        const key = someKey(lists);
        const value = lists.get(key) ?? Buffer.alloc(0);
        return lists.put(key, value.subarray(0, value.length - 4));
      },
      message: /does not match its traces/,
    },
    {
      what: 'a missing block',
      name: 'blocks',
      damage: (blocks) => blocks.remove(someKey(blocks)),
      message: /is in only one of the databases/,
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
      message: /is not the child of|do not match its hash/,
    },
    {
      what: 'a missing chunk',
      name: 'chunks-0',
      damage: (chunks) => chunks.remove(someKey(chunks)),
      message: /the index is damaged/,
    },
    {
      what: 'an unavailable block that is not in the list of unavailable blocks',
      name: 'meta',
      damage: (meta) => meta.remove(Buffer.from('unavailable')),
      message: /block 1005 is unavailable in only one of its record and the list/,
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
