import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Random } from '../../../../../../test/support/random.ts';
import { syntheticAddresses, syntheticBlock } from '../../../../../../test/support/syntheticChain.ts';
import { flipBit, keysOf } from '../../../../../../test/traces/support/damage.ts';
import {
  type Hash,
  type IndexedBlock,
  indexBlock,
  indexUnavailable,
  JsonWriter,
  type TraceReader,
  type TraceStore,
} from '../../../../traces/index.ts';
import { TraceEnvironment } from '../environment.ts';
import { openTraceReader, openTraceStore, verifyTraces } from '../index.ts';

/** The blocks cross the end of a segment. A dictionary is made from the first one. */
const [FIRST, LAST] = [2_042, 2_054];
const UNAVAILABLE = FIRST + 5;
const ADDRESSES = syntheticAddresses(20);
const MIN_TRACES_OF_DICTIONARY = 2_000;
/** Some of the posting lists are on disk, some are not. */
const OPTIONS = { maxRecentPositions: 300, listsPerMerge: 100 };
/** Names of the records of the database `meta` in an index with all kinds of them. */
const NAMES = [
  'chain',
  'dictionary',
  'dictionary-1',
  'finalized',
  'head',
  'history-hash-key',
  'history-segments',
  'on-demand',
  'state',
  'unavailable',
  'unmerged',
];

let root: string;
let folder: string;
let blocks: IndexedBlock[];
let right: readonly string[];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'floodgate-singles-'));
  blocks = syntheticBlocks();
  expect(blocks[0]?.block.traceCount).toBeGreaterThan(MIN_TRACES_OF_DICTIONARY);
  const store = openTraceStore(join(root, 'intact'), OPTIONS);
  await bind(store);
  for (const block of blocks) await store.apply({ blocks: [block], onDemand: block.block.number % 7 === 0 });
  right = await resultsOf(store);
  await store.close();
});
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  folder = join(root, 'damaged');
  cpSync(join(root, 'intact'), folder, { recursive: true });
  rmSync(join(folder, 'store.json')); // identity of the original
});
afterEach(() => rmSync(folder, { recursive: true }));

async function bind(store: TraceStore): Promise<void> {
  await store.bindChain({ chainId: 1, genesisHash: blocks[0]?.block.hash as Hash });
  await store.apply({ blocks: [], finalizedNumber: FIRST + 6 });
}

/** Expects that no result of the damaged index is wrong, and that all are right after the repair. */
async function expectRepair(): Promise<void> {
  const store = openTraceStore(folder, OPTIONS);
  for (const [i, result] of (await resultsOf(store)).entries())
    if (result !== right[i]) expect(result).toMatch(/^error: the index is damaged/);
  for (const segment of [1, 2]) store.noteDamage?.([{ kind: 'segment', segment }]);
  expect((await store.repair?.())?.failures).toEqual([]);
  const lost = (await store.unavailable(FIRST, LAST, LAST)).filter((one) => one.unavailable === 'damaged');
  for (const { number } of lost)
    await store.apply({ blocks: blocks.slice(number - FIRST, number - FIRST + 1) });
  await bind(store);
  expect(await resultsOf(store)).toEqual(right);
  await store.close();
  expect(await verifyTraces(folder, () => undefined)).toEqual([]);
}

it('the index of these tests has all records', async () => {
  expect((await keysOf(folder, 'meta')).map(String)).toEqual(NAMES);
});

it.each(NAMES.flatMap((name) => [0, 0.4, 0.999].map((at) => ({ name, at }))))(
  'a damaged value of the record $name is repaired at the start (bit at $at)',
  async ({ name, at }) => {
    await flipBit(folder, { database: 'meta', key: Buffer.from(name), at });
    expect(await verifyTraces(folder, () => undefined)).toEqual([
      `the index is damaged: record ${name} of meta does not match its checksum`,
      'repair: floodgate index --again 2048-3071 --upstream URL',
    ]);
    await expectRepair();
  },
);

/** Changes one bit of the key of a record of the database `meta`. */
async function damageKey(name: string): Promise<void> {
  const binary = { keyEncoding: 'binary', encoding: 'binary' } as const;
  const environment = open<Buffer, Buffer>({ path: folder, maxDbs: 30, ...binary });
  const meta = environment.openDB<Buffer, Buffer>({ name: 'meta', ...binary });
  const key = Buffer.from(name);
  const record = Buffer.from(meta.get(key) ?? '');
  await meta.remove(key);
  key[0] = key.readUInt8(0) ^ 1;
  await meta.put(key, record);
  await environment.close();
}

it.each(NAMES)('a reader returns no wrong result if the key of the record %s is damaged', async (name) => {
  await damageKey(name);
  let reader: ReturnType<typeof openTraceReader>;
  try {
    reader = openTraceReader(folder);
  } catch (error) {
    return expect(error).toMatchObject({ name: 'DamagedIndexError' });
  }
  for (const [i, result] of (await resultsOf(reader)).entries())
    if (result !== right[i]) expect(result).toMatch(/^error: the index is damaged|^undefined/);
  await reader.close();
});

it('the number of the newest dictionary is repaired with the segment for which it was made', async () => {
  const key = Buffer.from('dictionary');
  await flipBit(folder, { database: 'meta', key });
  await openTraceStore(folder, OPTIONS).close();
  const environment = TraceEnvironment.open(folder, { readOnly: true });
  expect(environment.read(environment.meta, key)).toEqual(Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]));
  await environment.close();
});

const DICTIONARY = 'dictionary-1';

it.each(NAMES.filter((name) => name !== DICTIONARY))(
  'a damaged key of the record %s is repaired at the start',
  async (name) => {
    await damageKey(name);
    await expectRepair();
  },
);

it('an index without the record of a dictionary is not opened', async () => {
  await damageKey(DICTIONARY);
  expect(() => openTraceStore(folder, OPTIONS)).toThrow(
    `the index is damaged: record ${DICTIONARY} of meta is missing: restore a backup, or remove the folder ${folder}`,
  );
});

function syntheticBlocks(): IndexedBlock[] {
  const random = new Random(9);
  const made: IndexedBlock[] = [];
  let parentHash: Hash | undefined;
  for (let number = FIRST; number <= LAST; number++) {
    const maxTransactions = number === FIRST ? 8_000 : 12;
    const shape = { addresses: ADDRESSES, maxTransactions, maxFrames: 5 };
    const { header, traces } = syntheticBlock(random, shape, { number, parentHash });
    parentHash = header.hash;
    made.push(number === UNAVAILABLE ? indexUnavailable(header, 'oversized') : indexBlock(header, traces));
  }
  return made;
}

/** Returns the traces of each block, and the traces and the history of each address, or the messages of errors. */
async function resultsOf(store: TraceReader): Promise<string[]> {
  const resultOf = async (read: () => unknown): Promise<string> => {
    try {
      return String(await read());
    } catch (error) {
      return `error: ${(error as Error).message}`;
    }
  };
  const filter = { toAddresses: [], mode: 'union', after: 0, count: 1e6 } as const;
  const range = { fromBlock: UNAVAILABLE + 1, toBlock: LAST };
  return Promise.all([
    ...blocks.map(({ block }) => resultOf(() => store.blockTraces(block.number, 2 ** 30))),
    ...ADDRESSES.map((address) =>
      resultOf(() => store.filter({ ...filter, ...range, fromAddresses: [address] }, 2 ** 30)),
    ),
    ...ADDRESSES.map((address) =>
      resultOf(async () => {
        const json = new JsonWriter();
        const query = { addresses: [address], direction: 'either', order: 'desc', limit: 1_000 } as const;
        const all = { ...query, toBlock: LAST, filter: { failed: true } };
        await store.addressTraces(all, 2 ** 30, json);
        return json.copy();
      }),
    ),
  ]);
}
