import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, open } from 'lmdb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../../../../test/support/random.ts';
import { syntheticAddresses, syntheticBlock } from '../../../../../test/support/syntheticChain.ts';
import { sealStoreFile } from '../../../../platform/storeFile/index.ts';
import { type Hash, indexBlock, indexUnavailable, JsonWriter } from '../../../traces/index.ts';
import { encodeRecord } from './checksum.ts';
import { openTraceReader, openTraceStore, verifyTraces } from './index.ts';

/** The blocks cross the end of a segment. Some of their lists are on disk, some are not. */
const FIRST = 1_000;
const BLOCKS = 60;
/** Blocks without traces, because no node could trace them. */
const UNAVAILABLE = [FIRST + 5, FIRST + 41];
/** Number of changed records of each database. */
const CHANGES = 6;

describe('verifyTraces', () => {
  let intact: string;
  let folder: string;
  beforeAll(async () => {
    intact = mkdtempSync(join(tmpdir(), 'floodgate-verify-'));
    const store = openTraceStore(intact, { maxRecentPositions: 300, listsPerMerge: 10 });
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
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-verify-'));
    cpSync(intact, folder, { recursive: true });
    sealStoreFile(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  afterAll(() => rmSync(intact, { recursive: true, force: true }));

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
        return lists.put(key, encodeRecord(key, value.subarray(0, value.length - 8)));
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
        return blocks.put(key, encodeRecord(key, value.subarray(0, -4)));
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
    await changeDatabase(name, damage);
    expect((await verified()).join('\n')).toMatch(message);
  });

  const changeDatabase = async (
    name: string,
    change: (database: Database<Buffer, Buffer>) => unknown,
  ): Promise<void> => {
    const options = { keyEncoding: 'binary', encoding: 'binary' } as const;
    const root = open<Buffer, Buffer>({ path: folder, maxDbs: 20, ...options });
    await change(root.openDB<Buffer, Buffer>({ name, ...options }));
    await root.close();
  };

  it.each(['blocks', 'chunks-0', 'attributes', 'postings', 'segments', 'meta'])(
    'a changed byte of the database %s causes errors, but no wrong results',
    async (name) => {
      const right = await results(folder);
      let errors = 0;
      for (let at = 0; at < CHANGES; at++) {
        let restore: (database: Database<Buffer, Buffer>) => unknown = () => undefined;
        await changeDatabase(name, (database) => {
          const keys = [...database.getKeys()];
          const key = Buffer.from(keys[Math.floor((keys.length * at) / CHANGES)] ?? '');
          const record = Buffer.from(database.get(key) ?? '');
          const changed = Buffer.from(record);
          const byte = Math.floor((record.length * at) / CHANGES);
          changed[byte] = record.readUInt8(byte) ^ (1 << (at % 8));
          restore = (undamaged) => undamaged.put(key, record);
          return database.put(key, changed);
        });
        for (const [what, result] of await results(folder))
          if (result !== right.get(what)) {
            expect(result, what).toBe('DamagedIndexError');
            errors++;
          }
        await changeDatabase(name, restore);
      }
      expect(errors).toBeGreaterThan(0);
    },
  );
});

/** Returns results of each read of the index, or the names of their errors. */
async function results(folder: string): Promise<Map<string, string>> {
  const store = openTraceReader(folder);
  const found = new Map<string, string>();
  const read = async (what: string, of: () => unknown): Promise<void> => {
    try {
      found.set(what, String(await of()));
    } catch (error) {
      found.set(what, (error as Error).name);
    }
  };
  const toBlock = FIRST + BLOCKS - 1;
  for (let number = FIRST; number <= toBlock; number++)
    await read(`block ${number}`, () => store.blockTraces(number, 2 ** 30));
  for (const address of syntheticAddresses(6)) {
    const filter = {
      fromAddresses: [address],
      toAddresses: [],
      mode: 'union',
      after: 0,
      count: 1e6,
    } as const;
    await read(`filter of ${address}`, () => store.filter({ ...filter, fromBlock: 1_042, toBlock }, 2 ** 30));
    const query = { addresses: [address], direction: 'either', toBlock, order: 'desc', limit: 200 } as const;
    const json = new JsonWriter();
    await read(`history of ${address}`, async () => {
      await store.addressTraces({ ...query, filter: { failed: true } }, 2 ** 30, json);
      return json.copy();
    });
  }
  await store.close();
  return found;
}

function someKey(database: Database<Buffer, Buffer>): Buffer {
  const keys = [...database.getKeys()];
  return keys[Math.floor(keys.length / 2)] ?? Buffer.alloc(0);
}
