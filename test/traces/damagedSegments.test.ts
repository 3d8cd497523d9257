import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrateSharedTraces, openSharedTraces } from '../../src/ethereum/store/shared/index.ts';
import { type Hash, type HistoryPage, indexBlock, JsonWriter } from '../../src/ethereum/traces/index.ts';
import { verifySharedIndex } from '../../src/server/index.ts';
import { GrowingChain, shape } from '../contract/growingChain.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { plainSummary, referenceHistory } from '../support/plainHistory.ts';
import { Random } from '../support/random.ts';
import { newChain } from '../support/sharedIndex.ts';
import { type SyntheticBlock, syntheticBlock } from '../support/syntheticChain.ts';
import { stringifyTraces } from '../support/textOfTraces.ts';

/** The end of segment 0, all of segment 1, and the start of segment 2. Some blocks of segment 2 are missing. */
const [FIRST, LAST] = [1020, 2060];
const MISSING = { fromBlock: 2051, toBlock: 2052 };
/** Blocks with the rows of interrupted writes, which the state of their segment ignores. */
const INTERRUPTED = { fromBlock: 1490, toBlock: 1500 };
const MAX_BYTES = 2 ** 26;
const LIMIT = 10_000;
const WHOLE = 'SELECT * FROM whole';

describe.skipIf(!hasClickHouse)(`a changed row of trace_segments${WITHOUT_CLICKHOUSE}`, () => {
  const identity = newChain();
  const chain = new GrowingChain(new Random(71), FIRST);
  const [address] = shape.addresses as [(typeof shape.addresses)[number]];
  const range = { fromBlock: FIRST, toBlock: LAST };
  let clickHouse: ClickHouseServer;
  beforeAll(async () => {
    clickHouse = await ClickHouseServer.start();
    await migrateSharedTraces(clickHouse.url());
    const traces = openSharedTraces(clickHouse.url());
    const writer = traces.writer(identity);
    const write = async (toBlock: number): Promise<void> => {
      const added: SyntheticBlock[] = [];
      for (; chain.next <= toBlock; chain.next++) {
        const small = { ...shape, maxTransactions: 4, maxFrames: 3 };
        const parentHash = chain.blocks.get(chain.next - 1)?.header.hash ?? added.at(-1)?.header.hash;
        const block = syntheticBlock(chain.random, small, { number: chain.next, parentHash });
        chain.put(block);
        added.push(block);
      }
      await writer.write(added.map(({ header, traces }) => indexBlock(header, traces)));
    };
    await write(INTERRUPTED.toBlock);
    await clickHouse.query(
      `INSERT INTO trace_parties SELECT * REPLACE (write + 1 AS write) FROM trace_parties WHERE number >= ${INTERRUPTED.fromBlock}`,
    );
    await write(MISSING.fromBlock - 1);
    const gap = new GrowingChain(chain.random, MISSING.fromBlock);
    await gap.grow({ apply: async () => undefined } as never, 2); // only apply is called
    for (const block of gap.blocks.values()) chain.put(block);
    chain.next = MISSING.toBlock + 1;
    await write(LAST);
    for (let number = MISSING.fromBlock; number <= MISSING.toBlock; number++)
      chain.put({ ...(chain.blocks.get(number) as SyntheticBlock), traces: [] }); // was put above
    await traces.close();
    await clickHouse.query('CREATE TABLE whole ENGINE = Memory AS SELECT * FROM trace_segments');
  });
  afterAll(() => clickHouse?.remove());

  /** Returns the results of reads that use the states of segments, with an empty cache. */
  async function results() {
    const traces = openSharedTraces(clickHouse.url());
    const reader = traces.reader(identity);
    const history = async (order: 'asc' | 'desc'): Promise<readonly [HistoryPage['missing'], string]> => {
      const json = new JsonWriter();
      const query = { addresses: [address], direction: 'either', order, filter: {}, ...range } as const;
      const asked = { query: { ...query, limit: LIMIT } };
      const { missing } = await reader.addressTraces(asked, { maxBytes: MAX_BYTES, json });
      return [missing, json.written().toString()];
    };
    const { counts, missing } = await reader.addressSummary({ query: { address, ...range } });
    const unknown = await reader.transactionPosition(new Random(9).hex(32) as Hash, {});
    const all = [await history('asc'), await history('desc'), counts.by, missing, unknown];
    await traces.close();
    return all;
  }

  function expected() {
    const history = (order: 'asc' | 'desc') => {
      const asked = { addresses: [address], direction: 'either', order, filter: {} } as const;
      return [[MISSING], stringifyTraces(referenceHistory(chain.traces, asked, range))];
    };
    const { counts } = plainSummary(chain.traces, address, range);
    return [history('asc'), history('desc'), counts, [MISSING], undefined];
  }

  /** Replaces the content of the table with the results of statements. */
  async function store(rows: readonly string[]): Promise<void> {
    await clickHouse.query('TRUNCATE TABLE trace_segments');
    for (const row of rows)
      await clickHouse.query(`INSERT INTO trace_segments ${row} SETTINGS insert_deduplicate = 0`);
  }

  async function problems(): Promise<string[]> {
    const found: string[] = [];
    for await (const problem of verifySharedIndex(clickHouse.url(), { progress: () => undefined }))
      found.push(problem);
    return found;
  }

  const writeOf = (number: number) => `(SELECT any(write) FROM trace_blocks WHERE number = ${number})`;
  const sumsOf = (segment: number, table: string) =>
    `(SELECT (count(), sum(write)) FROM ${table} WHERE intDiv(number, 1024) = ${segment})`;
  const [blocks, parties] = [sumsOf(2, 'trace_blocks'), sumsOf(2, 'trace_parties')];
  const parent = '(SELECT any(parent) FROM trace_blocks WHERE number = 2048)';

  it.each([
    ['a write is ignored', `arrayPushBack(ignored, ${writeOf(1600)}) AS ignored`],
    ['the interrupted writes are not ignored', '[] AS ignored'],
    ['other writes are ignored', 'arrayMap(write -> write + 1, ignored) AS ignored'],
    ['a count is changed', 'parties + 1 AS parties'],
    ['a sum is changed', 'block_sum + 1 AS block_sum'],
    ['the parent is changed', 'last AS parent'],
    ['the last block is changed', 'parent AS last'],
    [
      'the row is that of a segment with missing blocks',
      `2048 AS number, (${blocks}).1 AS blocks, (${blocks}).2 AS block_sum, (${parties}).1 AS parties,
        (${parties}).2 AS party_sum, ${parent} AS parent`,
    ],
  ])('leads to right results: %s', async (_, change) => {
    const changed = `SELECT * REPLACE (${change}) FROM whole`;
    for (const rows of [[changed], [changed, WHOLE], [WHOLE, changed]]) {
      await store(rows);
      expect(await results(), rows.join(', then ')).toEqual(expected());
    }
  });

  it('leads to right results if it is deleted or repeated', async () => {
    for (const copies of [0, 2]) {
      await store(Array.from({ length: copies }, () => WHOLE));
      expect(await results()).toEqual(expected());
    }
  });

  it('is reported until a block of its segment is written again', async () => {
    await store(['SELECT * REPLACE ([] AS ignored) FROM whole']);
    expect(await problems()).toEqual([
      expect.stringMatching(/: the row of the blocks 1024 to 2047 in trace_segments is damaged$/),
    ]);
    const traces = openSharedTraces(clickHouse.url());
    const { header, traces: list } = chain.blocks.get(1600) as SyntheticBlock; // is in the chain
    await traces.writer(identity).write([indexBlock(header, list)], { again: true });
    await traces.close();
    expect(await problems()).toEqual([]);
    expect(await results()).toEqual(expected());
  });
});
