import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, open } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../../../../../test/support/random.ts';
import { sizeInSearch } from '../../../../../../test/support/search.ts';
import { syntheticAddresses, syntheticBlock } from '../../../../../../test/support/syntheticChain.ts';
import { until } from '../../../../../../test/support/until.ts';
import { flipRandomBits } from '../../../../../../test/traces/support/damage.ts';
import {
  type Hash,
  IndexConflictError,
  type IndexedBlock,
  indexBlock,
  indexUnavailable,
  JsonWriter,
  type TraceStore,
} from '../../../../traces/index.ts';
import { SEGMENTS_KEY } from '../directory/directoryKeys.ts';
import { SegmentStates } from '../directory/segmentStates.ts';
import { TraceEnvironment } from '../environment.ts';
import { openTraceStore, verifyTraces } from '../index.ts';

/** The blocks cross the end of a segment. */
const FIRST = 1_010;
const LAST = 1_050;
const UNAVAILABLE = FIRST + 5;
const ADDRESSES = syntheticAddresses(6);
const ROUNDS = sizeInSearch(500, { ordinary: 12 });
const OPTIONS = { maxRecentPositions: 300, listsPerMerge: 10 };
const BINARY = { keyEncoding: 'binary', encoding: 'binary' } as const;

/** Results by the name of the read. An error is `error`. */
type Results = ReadonlyMap<string, string>;

describe('the repair of an index', () => {
  let folder: string;
  let blocks: readonly IndexedBlock[];
  let right: Results;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'floodgate-repair-'));
    blocks = syntheticBlocks();
    const store = openTraceStore(folder, OPTIONS);
    await store.bindChain({ chainId: 1, genesisHash: hashOf(FIRST) });
    for (const block of blocks)
      if (block.block.number < LAST - 5)
        await store.apply({ blocks: [block], onDemand: block.block.number % 7 === 0 });
    await store.apply({ blocks: [], finalizedNumber: LAST - 20 });
    for (const block of blocks.slice(-6)) await store.apply({ blocks: [block] });
    right = await resultsOf(store);
    await store.close();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const hashOf = (number: number): Hash => blocks[number - FIRST]?.block.hash as Hash;

  /** Adds the blocks that the index lacks, and the traces of damaged ones, as ingest does. */
  async function fetchMissing(store: TraceStore): Promise<void> {
    const lost = [...(await store.unavailable(FIRST, LAST, LAST))].filter(
      (one) => one.unavailable === 'damaged',
    );
    for (const { number } of lost)
      await store.apply({ blocks: blocks.slice(number - FIRST, number - FIRST + 1) });
    for (let number = await store.firstMissing(FIRST, LAST); number !== undefined; ) {
      await store.apply({ blocks: blocks.slice(number - FIRST, number - FIRST + 1) });
      number = await store.firstMissing(number, LAST);
    }
    if ((await store.finalizedNumber()) === undefined)
      await store.apply({ blocks: [], finalizedNumber: LAST - 20 });
    if ((await store.chain()) === undefined)
      await store.bindChain({ chainId: 1, genesisHash: hashOf(FIRST) });
  }

  async function inDatabases<T>(use: (databases: ReadonlyMap<string, Database<Buffer, Buffer>>) => T) {
    const root = open<Buffer, Buffer>({ path: folder, maxDbs: 30, ...BINARY });
    const names = [...root.getKeys()].map((key) => Buffer.from(key).toString().replace('\0', ''));
    const stored = names.filter((name) => !name.startsWith('format') && !name.includes('floodgate'));
    const used = await use(
      new Map(stored.map((name) => [name, root.openDB<Buffer, Buffer>({ name, ...BINARY })])),
    );
    await root.close();
    return used;
  }

  /**
   * Expects that an index returns right results or errors, and right results after the repair. Returns the number of
   * errors.
   */
  async function expectRepair(what: string, { isRebuilt }: { isRebuilt: boolean }): Promise<number> {
    let errors = 0;
    const store = openTraceStore(folder, OPTIONS);
    for (const [name, result] of await resultsOf(store))
      if (result !== right.get(name)) {
        expect(result, `${what}: ${name}`).toMatch(/^(error|undefined)/);
        errors++;
      }
    for (const segment of [0, 1]) store.noteDamage?.([{ kind: 'segment', segment, isRebuilt }]);
    const repair = await store.repair?.();
    expect(repair?.failures, what).toEqual([]);
    await fetchMissing(store);
    await store.repair?.();
    expect(await resultsOf(store), what).toEqual(right);
    await store.close();
    expect(await verifyTraces(folder, () => undefined), what).toEqual([]);
    return errors;
  }

  it('random damage never leads to a wrong result, and all results are right after the repair', async () => {
    const random = new Random(41);
    let errors = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const damaged = await flipRandomBits(folder, random);
      // Damage that the reads did not need is found by the repair of its segment.
      errors += await expectRepair(`round ${round}: ${damaged.join(', ')}`, {
        isRebuilt: random.chance(0.3),
      });
    }
    expect(errors).toBeGreaterThan(0);
  });

  it('a damaged key never leads to a wrong result if the segment is in the directory, and is repaired', async () => {
    const random = new Random(43);
    let errors = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const built = openTraceStore(folder, { maxRecentPositions: 0 });
      await built.apply({ blocks: [] });
      await until('the run of segment 0', () => hasRun(folder));
      await built.close();
      let what = '';
      await inDatabases(async (databases) => {
        const name = random.pick(['blocks', 'segments', 'attributes', 'chunks-0', 'postings', 'directory-0']);
        const database = databases.get(name) as Database<Buffer, Buffer>;
        const keys = [...database.getKeys()].map((key) => Buffer.from(key));
        // No other record lists transactions, or the addresses of a segment without a run.
        const key = random.pick(
          name === 'postings' ? keys.filter((one) => one.readUInt32BE(0) === 0 && one[4] !== 2) : keys,
        );
        const record = Buffer.from(database.get(key) ?? '');
        await database.remove(key);
        const bit = random.below(8 * key.length);
        key[bit >> 3] = key.readUInt8(bit >> 3) ^ (1 << (bit & 7));
        await database.put(key, record);
        what = `round ${round}: ${name} ${key.toString('hex')}, bit ${bit}`;
      });
      errors += await expectRepair(what, { isRebuilt: false });
    }
    expect(errors).toBeGreaterThan(0);
  });

  it('another block with the number of a damaged block is rejected', async () => {
    const [number, key] = [FIRST + 20, Buffer.from([0, 0, 0x04, 0x06, 0, 0, 0, 0])];
    expect(key.readUInt32BE(0)).toBe(number);
    await inDatabases(async (databases) => {
      for (const [name, database] of databases)
        if (name.startsWith('chunks-') && database.get(key) !== undefined)
          await database.put(key, Buffer.from(database.get(key) ?? '').fill(0, 0, 1));
    });
    const store = openTraceStore(folder, OPTIONS);
    expect(() => store.blockTraces(number, 2 ** 30)).toThrow('the index is damaged');
    expect(await store.repair?.()).toMatchObject({ unavailable: [number], removed: [], failures: [] });
    expect(await store.block(number)).toMatchObject({ hash: hashOf(number), unavailable: 'damaged' });
    const { header, traces } = syntheticBlock(
      new Random(1),
      { addresses: ADDRESSES, maxTransactions: 2, maxFrames: 2 },
      { number, parentHash: hashOf(number - 1) },
    );
    await expect(store.apply({ blocks: [indexBlock(header, traces)] })).rejects.toThrow(IndexConflictError);
    await fetchMissing(store);
    expect(await resultsOf(store)).toEqual(right);
    await store.close();
  });

  it('missing posting lists and attributes are derived again with their segment', async () => {
    await inDatabases(async (databases) => {
      for (const name of ['postings', 'attributes'])
        for (const key of [...(databases.get(name)?.getKeys() ?? [])])
          await databases.get(name)?.remove(Buffer.from(key));
    });
    const store = openTraceStore(folder, OPTIONS);
    for (const segment of [0, 1]) store.noteDamage?.([{ kind: 'segment', segment, isRebuilt: true }]);
    expect(await store.repair?.()).toMatchObject({ unavailable: [], removed: [], failures: [] });
    expect(await resultsOf(store)).toEqual(right);
    await store.close();
    expect(await verifyTraces(folder, () => undefined)).toEqual([]);
  });
});

/** Whether the directory has a run of segment 0. */
function hasRun(folder: string): boolean {
  const environment = TraceEnvironment.open(folder, { readOnly: true });
  try {
    return new SegmentStates(environment.read(environment.meta, SEGMENTS_KEY)).levelOf(0) === 0;
  } finally {
    void environment.root.close();
  }
}

function syntheticBlocks(): IndexedBlock[] {
  const random = new Random(9);
  const blocks: IndexedBlock[] = [];
  let parentHash: Hash | undefined;
  for (let number = FIRST; number <= LAST; number++) {
    const shape = { addresses: ADDRESSES, maxTransactions: 12, maxFrames: 5 };
    const { header, traces } = syntheticBlock(random, shape, { number, parentHash });
    parentHash = header.hash;
    blocks.push(number === UNAVAILABLE ? indexUnavailable(header, 'oversized') : indexBlock(header, traces));
  }
  return blocks;
}

async function resultsOf(store: TraceStore): Promise<Results> {
  const found = new Map<string, string>();
  const read = async (what: string, of: () => unknown): Promise<void> => {
    try {
      found.set(what, String(await of()));
    } catch (error) {
      found.set(what, `error: ${(error as Error).message}`);
    }
  };
  for (let number = FIRST; number <= LAST; number++)
    await read(`block ${number}`, () => store.blockTraces(number, 2 ** 30));
  for (const address of ADDRESSES) {
    const filter = {
      fromAddresses: [address],
      toAddresses: [],
      mode: 'union',
      after: 0,
      count: 1e6,
    } as const;
    const range = { fromBlock: UNAVAILABLE + 1, toBlock: LAST };
    await read(`filter of ${address}`, () => store.filter({ ...filter, ...range }, 2 ** 30));
    const query = { addresses: [address], direction: 'either', order: 'desc', limit: 1_000 } as const;
    await read(`history of ${address}`, async () => {
      const json = new JsonWriter();
      const { missing } = await store.addressTraces(
        { ...query, toBlock: LAST, filter: { failed: true } },
        2 ** 30,
        json,
      );
      return missing.length > 0 ? 'error: missing blocks' : json.copy();
    });
  }
  const all = { fromAddresses: [], toAddresses: [], mode: 'union', after: 40, count: 1e6 } as const;
  await read('filter without addresses', () =>
    store.filter({ ...all, fromBlock: UNAVAILABLE + 1, toBlock: LAST }, 2 ** 30),
  );
  return found;
}
